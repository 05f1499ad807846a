// A picture as a module: whatever can show an anywidget can show it, without a kernel.
$SCRIPT
export default lessonkit.widgetOf("$CONTENT");
