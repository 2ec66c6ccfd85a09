"""On-line training in a simulator."""
