import { randomUUID } from 'node:crypto'
import { createLogger } from '@crux/service-kit'
import { createTeam, signUp } from '@crux/test-kit'
import { expect, it } from 'vitest'
import { startServerAndIdentity } from '../../test/kit/identity.ts'
import { createLastLogins } from './last-logins.ts'

const log = createLogger({ name: 'test', level: 'silent' })

it('the last sign-in is requested once per user and minute, a few at a time, and cached values are shown while the identity service is unavailable', async () => {
  const asked: string[] = []
  let [atOnce, most, away] = [0, 0, false]
  const lastLogins = createLastLogins({
    log,
    async load(id) {
      if (away) throw new Error('away')
      asked.push(id)
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce--
      return id === none ? undefined : `at ${id}`
    },
  })
  const ids = Array.from({ length: 30 }, () => randomUUID())
  const [none = ''] = ids
  const first = await lastLogins([...ids, ...ids, 'system'])
  expect([asked.length, most, first.size, first.get(ids[7] ?? '')]).toEqual([30, 8, 29, `at ${ids[7]}`])
  away = true
  const [known] = ids.slice(-1)
  expect(await lastLogins([...ids, randomUUID()])).toEqual(first)
  expect(await lastLogins([known ?? ''])).toEqual(new Map([[known, `at ${known}`]]))
  expect(asked).toHaveLength(30)
})

it('the last sign-in of a member is the start of a session, and visible to the team', async () => {
  const { crux, stop } = await startServerAndIdentity()
  const before = new Date().toISOString()
  const user = await signUp(crux.url)
  const { teamId } = await createTeam(user)
  const { users } = await user.client.call('teams.get', { params: { teamId } })
  const [{ lastLogin } = { lastLogin: '' }] = users
  const times = [before, lastLogin, new Date().toISOString()]
  expect(times).toEqual([...times].sort())
  await stop()
})
