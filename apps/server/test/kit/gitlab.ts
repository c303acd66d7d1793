import { getPage, type ServiceAnswer, startJsonService } from './json-service.ts'

export const gitlabAccount = { user: 'ada', token: 'glpat-correct' }

/** The documented answers of GitLab's API: groups, projects and their registry repositories, with numbered pages. */
export async function startGitlab(repositories: string[]) {
  let limited: Record<string, string> | undefined
  const service = await startJsonService(({ url, headers }): ServiceAnswer => {
    if (limited) return { status: 429, body: { message: 'Retry later' }, headers: limited }
    if (headers.authorization !== `Bearer ${gitlabAccount.token}`)
      return { status: 401, body: { message: '401 Unauthorized' } }
    const [, kind, encoded = '', rest = ''] = /^\/api\/v4\/(groups|projects)\/([^/]+)(.*)$/.exec(url.pathname) ?? []
    const path = decodeURIComponent(encoded)
    const exists = kind === 'groups' ? path === 'company' : path === 'company/shop'
    if (!exists) return { status: 404, body: { message: `404 ${kind === 'groups' ? 'Group' : 'Project'} Not Found` } }
    if (rest === '') return { status: 200, body: { id: 7, path: path.split('/').at(-1), full_path: path } }
    if (rest !== '/registry/repositories') return { status: 404, body: { error: '404 Not Found' } }
    const all = repositories
      .filter((name) => name.startsWith(path))
      .map((name, id) => ({
        id,
        name: '',
        path: name,
        project_id: 9,
        location: `registry.gitlab.com/${name}`,
        created_at: '2026-01-02T03:04:05.678Z',
      }))
    const { rows, page, last, link } = getPage(url, all)
    return {
      status: 200,
      body: rows,
      headers: {
        link,
        'x-page': String(page),
        'x-next-page': page < last ? String(page + 1) : '',
        'x-total-pages': String(last),
      },
    }
  })
  return {
    ...service,
    /** Refuses all requests with these headers; undefined accepts them again. */
    limit: (headers: Record<string, string> | undefined) => {
      limited = headers
    },
  }
}
