/** The version of the server. Agents below the minimum stay connected but get no commands. */
export const serverVersion = '1.0.0'
const minimum = { major: 1, minor: 0 }

/** Patch level and pre-release are ignored, because the protocol changes only with the minor version. */
export function isSupported(version: string): boolean {
  const match = /^v?(\d+)\.(\d+)(\.|$)/.exec(version)
  if (!match) return false
  const [major, minor] = [Number(match[1]), Number(match[2])]
  return major === minimum.major && minor >= minimum.minor
}

export const minimumVersion = `${minimum.major}.${minimum.minor}.0`
