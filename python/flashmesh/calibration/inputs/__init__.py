"""Inputs of a calibration: facts of a drive, results of fio, and the targets of the fit."""
