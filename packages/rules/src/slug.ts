/** Lower case without accents, words joined by hyphens, nothing but a-z, 0-9 and hyphens (console.md 5). */
export function slugOf(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .trim()
    .replace(/[^a-z0-9 -]/g, '')
    .replace(/[ -]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

/** As long as a slug may be. */
const teamSlugMax = 16

/** The slug that a new team's form proposes: its name, cut after the last whole word that fits. */
export function teamSlugOf(name: string): string {
  const slug = slugOf(name.replaceAll('ß', 'ss'))
  if (slug.length <= teamSlugMax) return slug
  const cut = slug.slice(0, teamSlugMax + 1).lastIndexOf('-')
  return slug.slice(0, cut > 2 ? cut : teamSlugMax)
}

/** The prefix that a new deployment's form proposes: the project's name as a DNS label of at most 63 characters. */
export const prefixOf = (projectName: string): string => slugOf(projectName).slice(0, 63).replace(/-+$/, '')
