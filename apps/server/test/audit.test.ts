import { type ChannelName, liveChannels, type Operation, type Permission, scopeOfPermission } from '@crux/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer } from './kit/index.ts'
import { createInit, getRow, operations, toPath } from './kit/requests.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

let crux: TestServer
let owner: Someone
let reader: Someone
let testEnvironment: TestEnvironment
let readerId: string

beforeAll(async () => {
  crux = await startTestServer()
  owner = crux.signUp('Owner')
  testEnvironment = await makeTestEnvironment(crux, owner)
  const body = { name: 'Reader', scope: 'read' as const, expirationInDays: 0 }
  const made = await crux.client(owner).call('tokens.create', { body })
  reader = { ...owner, token: made.token }
  readerId = made.id
})
afterAll(() => crux.stop())

/** Changes that no team's log records, and why. */
const elsewhere: Partial<Record<Operation, string>> = {
  'users.me': 'changes nothing: the wire of the reference system has it as POST',
  'users.delete-me': 'an account: recorded in each team that the user leaves',
  'users.show-onboarding': 'a preference of a user, in no team',
  'users.hide-onboarding': 'a preference of a user, in no team',
  'auth.register': 'an account: the security log of the identity service',
  'auth.login': 'an account: the security log of the identity service',
  'auth.verify': 'an account: the security log of the identity service',
  'auth.logout': 'an account: the security log of the identity service',
  'auth.recovery': 'an account: the security log of the identity service',
  'auth.create-account': 'an account: accepting the invitation is recorded by itself',
  'auth.renew-invitation-code': 'sends a mail to who is invited; nobody is signed in',
  'auth.edit-profile': 'an account: the security log of the identity service',
  'auth.change-password': 'an account: the security log of the identity service',
  'auth.link-provider': 'an account: the security log of the identity service',
  'auth.unlink-provider': 'an account: the security log of the identity service',
  'mails.list': 'reads, for who runs the installation; nobody is signed in',
  'registries.hook': 'news of a registry; nobody acts in the team',
  'registries.hook-github': 'news of a registry; nobody acts in the team',
  'registries.hook-harbor': 'news of a registry; nobody acts in the team',
  'registries.hook-hub': 'news of a registry; nobody acts in the team',
  'pipelines.hook-azure': 'news of a service; nobody acts in the team',
  'pipelines.hook-github': 'news of a service; nobody acts in the team',
  'pipelines.hook-gitlab': 'news of a service; nobody acts in the team',
  'storages.check': 'asks the storage and changes nothing',
  'tokens.create': 'a token of a user, in no team',
  'tokens.delete': 'a token of a user, in no team',
}
const changing = operations.filter((operation) => getRow(operation).method !== 'GET')

it('every change is recorded, or listed as an exception', () => {
  const unrecorded = changing.filter((operation) => getRow(operation).audit === false)
  expect(unrecorded.sort()).toEqual(Object.keys(elsewhere).sort())
})

it('every live message that changes data is recorded', () => {
  const unrecorded = (Object.keys(liveChannels) as ChannelName[]).flatMap((channel) =>
    Object.entries(liveChannels[channel].client as Record<string, { permission: Permission; audit: string | false }>)
      .filter(([, { audit, permission }]) => audit === false && scopeOfPermission(permission) !== 'read')
      .map(([type]) => `${channel}/${type}`),
  )
  expect(unrecorded).toEqual([])
})

const recorded = changing.filter(
  (operation) => getRow(operation).audit !== false && !['session'].includes(getRow(operation).permission),
)
it.each(recorded)('%s is recorded with its author when it was refused', async (operation) => {
  const entries = async () => {
    const { rows } = await crux.app.database.pool.query(
      `select actor_id, actor_name, actor_type, context, method, accepted, data from crux.audit_log
       where team_id = $1 and event = $2 order by created_at, id`,
      [testEnvironment.teamId, `${getRow(operation).audit} ${operation}`],
    )
    return rows
  }
  const before = await entries()
  const answer = await crux.request(toPath(operation, testEnvironment), {
    ...createInit(operation, testEnvironment),
    as: reader,
  })
  expect(answer.status).toBe(403)
  const entry = (await entries()).slice(before.length)
  expect(entry).toMatchObject([
    {
      actorId: owner.id,
      actorName: 'Owner',
      actorType: 'user',
      context: 'http',
      method: getRow(operation).method.toLowerCase(),
      accepted: false,
      data: { refused: { error: 'forbidden', property: 'token' }, tokenId: readerId },
    },
  ])
})

/** Changes that a team without people, agents and releases refuses, and the tests that verify their audit entries. */
const needMore: Partial<Record<Operation, string>> = {
  'teams.delete': 'its log goes with the team',
  ...refusedWithout('another user', [
    'teams.invite',
    'teams.reinvite',
    'teams.change-role',
    'teams.leave',
    'teams.remove-user',
  ]),
  ...refusedWithout('a token that was made before', [
    'service-accounts.delete-token',
    'registries.delete-token',
    'nodes.revoke-token',
    'nodes.delete-script',
    'deployments.delete-token',
  ]),
  'registries.delete': 'an image of the team uses it',
  ...refusedWithout('a registry that sends deliveries', [
    'registries.create-hook-secret',
    'registries.delete-hook-secret',
  ]),
  ...refusedWithout('a receiver of messages', ['notifications.test', 'notifications.send-again']),
  ...refusedWithout('a registry that sends deliveries', [
    'pipelines.create-event-watcher',
    'pipelines.update-event-watcher',
  ]),
  ...refusedWithout('a service that can be asked', ['pipelines.create', 'pipelines.update', 'pipelines.trigger']),
  'nodes.delete': 'a deployment of the team uses it',
  'deployments.create-token': 'the version is not rolling',
  ...refusedWithout('an agent', [
    'nodes.update-agent',
    'containers.delete-prefix',
    'containers.start',
    'containers.stop',
    'containers.restart',
    'containers.delete',
    'nodes.prune-images',
    'prefix-data.delete',
    'projects.run',
    'deployments.start',
    'deployments.cancel',
    'deployments.start-release',
    'packages.promote',
  ]),
}

function refusedWithout(what: string, all: readonly Operation[]) {
  return Object.fromEntries(all.map((operation) => [operation, `refused without ${what}`]))
}

it.each(recorded)('%s is recorded as successful only if it succeeded', async (operation) => {
  const own = await makeTestEnvironment(crux, owner)
  const answer = await crux.request(toPath(operation, own), { ...createInit(operation, own), as: owner })
  const { rows } = await crux.app.database.pool.query(
    `select actor_id, actor_name, actor_type, context, method, accepted from crux.audit_log
     where team_id = $1 and event = $2 order by created_at desc, id desc limit 1`,
    [own.teamId, `${getRow(operation).audit} ${operation}`],
  )
  expect([operation, answer.ok]).toEqual([operation, !(operation in needMore) || operation === 'teams.delete'])
  const entry = {
    actorId: owner.id,
    actorName: 'Owner',
    actorType: 'user',
    context: 'http',
    method: getRow(operation).method.toLowerCase(),
    accepted: answer.ok,
  }
  expect(rows).toEqual(operation === 'teams.delete' ? [] : [entry])
})
