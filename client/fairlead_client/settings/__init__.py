"""What an application chooses, checked before anything is started."""
