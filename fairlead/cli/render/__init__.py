"""What people read: tables and texts, one renderer each of group, queue, member, decision, rule."""
