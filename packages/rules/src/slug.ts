/** Converts to lower case without accents, words joined by hyphens, only a-z, 0-9 and hyphens. */
export function toSlug(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .trim()
    .replace(/[^a-z0-9 -]/g, '')
    .replace(/[ -]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

/** The maximum length of a team slug. */
const teamSlugMax = 16

/** The slug that the form of a new team suggests: its name, cut after the last whole word that fits. */
export function getTeamSlug(name: string): string {
  const slug = toSlug(name.replaceAll('ß', 'ss'))
  if (slug.length <= teamSlugMax) return slug
  const cut = slug.slice(0, teamSlugMax + 1).lastIndexOf('-')
  return slug.slice(0, cut > 2 ? cut : teamSlugMax)
}

/** The prefix that the form of a new deployment suggests: the name of the project as a DNS label of at most 63 characters. */
export const getPrefix = (projectName: string): string => toSlug(projectName).slice(0, 63).replace(/-+$/, '')
