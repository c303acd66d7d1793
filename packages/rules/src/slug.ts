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

/** The slug that a new team's form proposes: the initials of three or more words, else the first three characters. */
export function teamSlugOf(name: string): string {
  const slug = slugOf(name)
  const words = slug.split('-').filter(Boolean)
  return words.length >= 3 ? words.map((word) => word.slice(0, 1)).join('') : slug.replaceAll('-', '').slice(0, 3)
}

/** The prefix that a new deployment's form proposes: the project's name as a DNS label of at most 63 characters. */
export const prefixOf = (projectName: string): string => slugOf(projectName).slice(0, 63).replace(/-+$/, '')
