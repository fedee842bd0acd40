// Sets the chosen theme before anything is painted, so that a page never flashes in the other one.
(() => {
  try {
    const { theme } = JSON.parse(localStorage.getItem("fairlead.console") || "{}");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // A browser that keeps nothing shows the theme of the system.
  }
})();
