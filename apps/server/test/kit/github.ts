import { getPage, type ServiceAnswer, startJsonService } from './json-service.ts'

export const githubAccount = { user: 'ada', token: 'ghp_correct' }
/** A token that signs in but lacks the scope read:packages. */
export const githubNarrowToken = 'ghp_narrow'

type Version = { digest: string; tags: string[]; createdAt: string }

/** The documented answers of GitHub's API: container packages of an organization and a user, and the versions of a package. */
export async function startGithub(options: { packages: string[]; versions: Record<string, Version[]> }) {
  let limited: { status: number; headers: Record<string, string> } | undefined
  const documentation_url = 'https://docs.github.com/rest'
  const service = await startJsonService(({ url, headers }): ServiceAnswer => {
    if (limited) return { ...limited, body: { message: 'API rate limit exceeded for user ID 1.', documentation_url } }
    const token = headers.authorization?.replace(/^Bearer /, '')
    if (token !== githubAccount.token && token !== githubNarrowToken)
      return { status: 401, body: { message: 'Bad credentials', documentation_url, status: '401' } }
    const owner = /^\/(orgs\/company|users\/ada)\/packages(.*)$/.exec(url.pathname)
    if (!owner) return { status: 404, body: { message: 'Not Found', documentation_url, status: '404' } }
    if (token === githubNarrowToken)
      return {
        status: 403,
        body: { message: 'You need at least read:packages scope to list packages.', documentation_url },
        headers: { 'x-ratelimit-remaining': '4999' },
      }
    const image = /^\/container\/([^/]+)\/versions$/.exec(owner[2] ?? '')?.[1]
    if (image === undefined) {
      const all = options.packages.map((name, id) => ({
        id,
        name,
        package_type: 'container',
        visibility: 'private',
        version_count: 1,
        created_at: '2026-01-02T03:04:05Z',
      }))
      const { rows, link } = getPage(url, all)
      // GitHub leaves packages out of a page that the token may not see: a short page is not the last one.
      return { status: 200, body: rows.filter((row) => (row as { id: number }).id !== 1), headers: { link } }
    }
    const all = (options.versions[decodeURIComponent(image)] ?? []).map(({ digest, tags, createdAt }, id) => ({
      id,
      name: digest,
      created_at: createdAt,
      updated_at: createdAt,
      metadata: { package_type: 'container', container: { tags } },
    }))
    const { rows, link } = getPage(url, all)
    return { status: 200, body: rows, headers: { link } }
  })
  return {
    ...service,
    /** Refuses all requests; undefined accepts them again. */
    limit: (answer: { status: number; headers: Record<string, string> } | undefined) => {
      limited = answer
    },
  }
}
