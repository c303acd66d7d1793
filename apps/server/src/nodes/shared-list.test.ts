import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'

let first: TestServer
let second: TestServer
let owner: Someone
let team: TestTeam
beforeAll(async () => {
  first = await startTestServer()
  second = await startTestServer({ database: first.database, people: first.people })
  owner = first.signUp()
  team = await first.createTeam(owner)
})
afterAll(async () => {
  await second.stop({ database: true })
  await first.stop()
})

const params = () => ({ teamSlug: team.slug })
const listNames = async (server: TestServer) =>
  (await server.client(owner).call('nodes.list', { params: params() })).map((node) => node.name)

/** Keeps many requests for the list in progress on both servers until `work` has ended. */
async function whileManyAsk(work: () => Promise<void>): Promise<void> {
  let isOver = false
  const lanes = Array.from({ length: 12 }, async (_, lane) => {
    while (!isOver) await listNames(lane % 2 ? first : second)
  })
  try {
    await work()
  } finally {
    isOver = true
    await Promise.all(lanes)
  }
}

it('the list of nodes contains a node that any server has created before the request, during many other requests', async () => {
  await whileManyAsk(async () => {
    for (let n = 10; n < 40; n++) {
      const [creator, reader] = n % 2 ? [first, second] : [second, first]
      await creator.client(owner).call('nodes.create', { params: params(), body: { name: `node-${n}` } })
      const seen = await Promise.all([listNames(creator), listNames(reader)])
      expect(seen.map((names) => names.includes(`node-${n}`))).toEqual([true, true])
    }
  })
})

it('the list of nodes is refused to users of another team, while members get it', async () => {
  const stranger = first.signUp()
  const other = await first.createTeam(stranger)
  const ask = async (someone: Someone, slug: string) =>
    (await first.request(`/api/${slug}/nodes`, { as: someone })).status
  await whileManyAsk(async () => {
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () =>
        Promise.all([ask(owner, team.slug), ask(stranger, team.slug), ask(stranger, other.slug)]),
      ),
    )
    expect(new Set(statuses.map(String))).toEqual(new Set(['200,403,200']))
  })
})

it('the list of nodes is refused to a member from the moment of their removal, during other requests', async () => {
  const member = await first.addMember(team, 'user')
  const ask = async () => (await first.request(`/api/${team.slug}/nodes`, { as: member })).status
  await whileManyAsk(async () => {
    expect(await ask()).toBe(200)
    await first.client(owner).call('teams.remove-user', {
      params: { teamId: team.id, userId: member.id },
    })
    expect(await ask()).toBe(403)
  })
})
