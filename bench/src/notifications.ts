import { createServer } from 'node:http'
import { unique, waitFor } from '@crux/test-kit'
import type { Report } from './measure.ts'
import type { TestSystem } from './test-system.ts'

const teams = 10
/** The most that a team may have. */
const perTeam = 100
const concurrency = 40
const hanging = '/hanging'
const boundS = 30

/** Messages to 1,000 webhooks, one of which never answers, from the event to the last of the others. */
export async function notifications({ testEnvironment }: TestSystem, report: Report): Promise<void> {
  const received = new Set<string>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    request.resume().on('end', () => {
      if (path === hanging) return
      received.add(path)
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  const url = `http://127.0.0.1:${address.port}`
  try {
    const { call } = testEnvironment.user.client
    const slugs: string[] = []
    const paths: string[] = []
    for (let team = 0; team < teams; team++) {
      const slug = unique('n').slice(0, 16)
      await call('teams.create', { body: { name: slug, slug } })
      slugs.push(slug)
      for (let index = 0; index < perTeam; index++) {
        const path = team + index === 0 ? hanging : `/${team}/${index}`
        paths.push(path)
        await call('notifications.create', {
          params: { teamSlug: slug },
          body: {
            name: `Hook ${index}`,
            type: 'webhook',
            url: url + path,
            active: true,
            enabledEvents: ['node-added'],
          },
        })
      }
    }
    const from = performance.now()
    for (const teamSlug of slugs) await call('nodes.create', { params: { teamSlug }, body: { name: 'Machine' } })
    await waitFor('the messages', () => received.size === paths.length - 1, { everyMs: 5, timeoutMs: 120_000 })
    const ours = (performance.now() - from) / 1_000
    received.clear()
    const bare = await postAll(paths.filter((path) => path !== hanging).map((path) => url + path))
    report.number(
      'notifications: 999 webhooks while one hangs',
      ours,
      's',
      `<= ${boundS}`,
      `a bare loop takes ${bare.toFixed(2)} s`,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** @returns the seconds that it took */
async function postAll(urls: readonly string[]): Promise<number> {
  const rest = [...urls]
  const from = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let url = rest.pop(); url !== undefined; url = rest.pop()) {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify({ text: 'Ada added the node Machine.' }),
        })
        await answer.arrayBuffer()
      }
    }),
  )
  return (performance.now() - from) / 1_000
}
