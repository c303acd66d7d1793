import i18n from 'i18next'

/** "Firefox on Linux" out of a User-Agent header, so that users can find unfamiliar sessions. */
export function toDeviceName(userAgent: string): { browser: string; system: string } {
  const browser =
    [
      ['Edg/', 'Edge'],
      ['OPR/', 'Opera'],
      ['Firefox/', 'Firefox'],
      ['Chrome/', 'Chrome'],
      ['Safari/', 'Safari'],
      ['curl/', 'curl'],
      ['node', 'Node.js'],
    ].find(([mark]) => userAgent.includes(mark ?? ''))?.[1] ?? ''
  const system =
    [
      ['Android', 'Android'],
      ['iPhone', 'iPhone'],
      ['iPad', 'iPad'],
      ['Windows', 'Windows'],
      ['Mac OS X', 'macOS'],
      ['CrOS', 'ChromeOS'],
      ['Linux', 'Linux'],
    ].find(([mark]) => userAgent.includes(mark ?? ''))?.[1] ?? ''
  return { browser, system }
}

/** The same as text. */
export function deviceName(userAgent: string): string {
  const { browser, system } = toDeviceName(userAgent)
  if (browser && system) return i18n.t('account:sessions.device', { browser, system })
  return browser || system || i18n.t('account:sessions.unknown')
}
