"""Is everything that Fairlead needs as it must be? One look at it, and how to mend what is not."""

from fairlead.doctor.answer import Answer, Status
from fairlead.doctor.catalogue import CHECKS
from fairlead.doctor.examination import Examined, examine_all
from fairlead.doctor.surroundings import Surroundings

__all__ = ["CHECKS", "Answer", "Examined", "Status", "Surroundings", "examine_all"]
