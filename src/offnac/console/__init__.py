"""What a person sees: progress on standard error, compact tables on standard output."""

from offnac.console.logs import show_audit, show_conversion, show_learning, show_log, show_ope
from offnac.console.progress import counting, learning, reproducing, training, tuning, waiting
from offnac.console.runs import show_evaluation, show_reproduction, show_training, show_tuning
from offnac.console.screen import tell, warn
from offnac.console.things import show_doctor, show_export, show_film, show_report

__all__ = [
    "counting",
    "learning",
    "reproducing",
    "show_audit",
    "show_conversion",
    "show_doctor",
    "show_evaluation",
    "show_export",
    "show_film",
    "show_learning",
    "show_log",
    "show_ope",
    "show_report",
    "show_reproduction",
    "show_training",
    "show_tuning",
    "tell",
    "training",
    "tuning",
    "waiting",
    "warn",
]
