"""Drivers for a control plane without a data plane: what is asked for counts as done."""
