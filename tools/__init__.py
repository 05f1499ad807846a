"""What the project needs besides its package."""
