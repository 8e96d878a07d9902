"""Drivers for a control plane without a data plane: every request succeeds without doing anything."""
