"""Cells that tests of several hosts write into their notebooks."""

INSTALL_CHECK = "from lessonkit.install_check import check\ncheck()"
