"""What other simulators and tools are configured with, translated into configurations of this one."""
