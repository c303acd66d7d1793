/** Of the server; agents below the minimum stay connected but get no commands (decision 31). */
export const serverVersion = '1.0.0'
const minimum = { major: 1, minor: 0 }

/** Patch level and pre-release do not count: what agents must understand changes with the minor version. */
export function isSupported(version: string): boolean {
  const match = /^v?(\d+)\.(\d+)(\.|$)/.exec(version)
  if (!match) return false
  const [major, minor] = [Number(match[1]), Number(match[2])]
  return major === minimum.major && minor >= minimum.minor
}

export const minimumVersion = `${minimum.major}.${minimum.minor}.0`
