package io.fairlead.client;

/** A setting cannot work. The message names the setting, what is wrong with it, and the remedy. */
public final class SettingsException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** The name of the setting. */
  public final String setting;

  /**
   * Makes an exception.
   *
   * @param setting the name of the setting
   * @param problem what is wrong with it
   * @param remedy what to do
   */
  public SettingsException(String setting, String problem, String remedy) {
    super(setting + ": " + problem + "; " + remedy);
    this.setting = setting;
  }
}
