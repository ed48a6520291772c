"""Importer of MQSim's two XML files."""

from flashmesh.importers.mqsim.importer import REQUESTS_MAX, MqsimImport, Scenario, import_mqsim, translate
from flashmesh.importers.mqsim.ledger import Mode, Setting, Unknown

__all__ = ["REQUESTS_MAX", "Mode", "MqsimImport", "Scenario", "Setting", "Unknown", "import_mqsim", "translate"]
