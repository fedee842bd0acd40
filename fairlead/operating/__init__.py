"""What an operator asks for: checked, written, answered, alike for commands and HTTP (ADR 0199)."""
