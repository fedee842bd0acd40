"""The doctor: checks everything that Fairlead needs, and says how to repair what is wrong."""

from fairlead.doctor.answer import Answer, Status
from fairlead.doctor.catalogue import CHECKS
from fairlead.doctor.context import CheckContext
from fairlead.doctor.examination import Examined, examine_all

__all__ = ["CHECKS", "Answer", "CheckContext", "Examined", "Status", "examine_all"]
