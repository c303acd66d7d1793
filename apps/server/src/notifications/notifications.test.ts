import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, getTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { createNotifications, type Receiver, redirectTo, startReceiver } from '../../test/notification-kit.ts'

let receiver: Receiver
let server: TestServer
let fixture: DeployTestEnvironment
let other: DeployTestEnvironment
let notifications: ReturnType<typeof createNotifications>

beforeAll(async () => {
  receiver = await startReceiver()
  server = await startTestServer({
    overrides: { outbound: redirectTo(() => receiver) },
    config: { mails: { directory: '/nonexistent', token: undefined } },
  })
  fixture = await makeDeployTestEnvironment(server)
  const owner = server.signUp('Grace')
  other = await getTestEnvironment(server, owner, await server.createTeam(owner))
  notifications = createNotifications(fixture)
})
afterAll(async () => {
  await server.stop()
  await receiver.stop()
})

const query = (text: string, values: unknown[] = []) => server.app.database.pool.query(text, values)
const readRow = async (id: string) => (await query('select * from crux.notification where id = $1', [id])).rows[0]
const openUrl = async (id: string) =>
  server.app.cipher.decrypt((await readRow(id)).url, { column: 'notification.url', row: id })
const openSecret = async (id: string) =>
  server.app.cipher.decrypt((await readRow(id)).secret, { column: 'notification.secret', row: id })
const slackUrl = (token: string) => `https://hooks.slack.com/services/T012345678/B012345678/${token.padEnd(24, 'x')}`
const secret = 'a secret of the webhook'

describe('a notification', () => {
  it('is created, listed, read, updated and deleted', async () => {
    const { create, list, get, update, remove } = notifications
    const made = await create({
      name: 'Chat',
      type: 'slack',
      url: slackUrl('one'),
      enabledEvents: ['node-back', 'node-back'],
    })
    const masked = 'https://hooks.slack.com/services/T012345678/B012345678/••••'
    expect(made).toMatchObject({ name: 'Chat', type: 'slack', url: masked, active: true, enabledEvents: ['node-back'] })
    expect(await list()).toContainEqual({
      id: made.id,
      name: 'Chat',
      type: 'slack',
      url: masked,
      active: true,
      enabledEvents: ['node-back'],
      problem: null,
    })
    await expect(create({ name: 'Chat' })).rejects.toMatchObject({ status: 409, property: 'name' })
    await update(made.id, { name: 'Chats', type: 'slack', url: masked, active: false, enabledEvents: [] })
    expect(await get(made.id)).toMatchObject({ name: 'Chats', active: false, enabledEvents: [] })
    await remove(made.id)
    for (const call of [get, remove, update]) await expect(call(made.id)).rejects.toMatchObject({ status: 404 })
  })

  it('keeps its address when the masked one is sent back, and takes another one', async () => {
    const { create, get, update } = notifications
    const { id, url } = await create({ type: 'slack', url: slackUrl('one') })
    await update(id, { type: 'slack', url })
    expect(await openUrl(id)).toBe(slackUrl('one'))
    await update(id, { type: 'slack', url: slackUrl('two') })
    expect(await openUrl(id)).toBe(slackUrl('two'))
    expect((await get(id)).url).toBe(url)
  })

  it('takes no masked address that is not its own: of another notification, of another type, or changed', async () => {
    const { create, update } = notifications
    const { id, url } = await create({ type: 'mattermost', url: 'https://chat.example.com/hooks/abc' })
    const wrong = { status: 400, property: 'url' }
    await expect(update(id, { type: 'rocket', url })).rejects.toMatchObject(wrong)
    await expect(update(id, { type: 'webhook', url })).rejects.toMatchObject(wrong)
    await expect(update(id, { type: 'mattermost', url: url.replace('chat', 'evil') })).rejects.toMatchObject(wrong)
    await expect(create({ type: 'mattermost', url })).rejects.toMatchObject(wrong)
    expect(await openUrl(id)).toBe('https://chat.example.com/hooks/abc')
  })

  it.each([
    [{ type: 'discord' as const, url: slackUrl('x') }, 'url'],
    [{ type: 'webhook' as const, url: 'https://user:hidden@example.com/' }, 'url'],
    [{ type: 'webhook' as const, url: 'file:///etc/passwd' }, 'url'],
    [{ type: 'slack' as const, url: '' }, 'url'],
    [{ type: 'email' as const, url: '' }, 'memberIds'],
    [{ secret: 'short' }, 'secret'],
    [{ name: 'x'.repeat(5_000) }, 'name'],
    [{ enabledEvents: ['everything' as never] }, 'enabledEvents[0]'],
  ])('with %j is refused without repeating it', async (write, property) => {
    const refused = await notifications.create(write).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, property })
    expect(JSON.stringify(refused)).not.toContain('hidden')
  })

  it('never shows its address or secret: in answers, in the audit log, or to members', async () => {
    const { create, get, list } = notifications
    const token = 'verysecrettoken'
    const { id } = await create({ url: `https://example.com/${token}`, secret })
    const user = await server.addMember(fixture.team, 'user')
    const asUser = await server.client(user).call('notifications.get', { params: notifications.at(id) })
    const { rows } = await query('select * from crux.audit_log where team_id = $1', [fixture.team.id])
    expect(rows.some(({ event }) => event === 'notification notifications.create')).toBe(true)
    const seen = JSON.stringify([await get(id), await list(), asUser, rows, await readRow(id)])
    expect(seen).not.toContain(token)
    expect(seen).not.toContain(secret)
    expect(await get(id)).toMatchObject({ hasSecret: true, url: 'https://example.com/••••' })
  })

  it('of another team does not exist', async () => {
    const { id } = await notifications.create()
    const { deliveryId } = await insertDelivery(id)
    const foreign = createNotifications(other)
    const calls = [
      () => foreign.get(id),
      () => foreign.update(id),
      () => foreign.remove(id),
      () => foreign.test(id),
      () => foreign.deliveries(id),
      () => foreign.sendAgain(id, deliveryId),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject({ status: 404 })
    // The delivery belongs to another notification of the own team.
    const own = await foreign.create()
    await expect(foreign.sendAgain(own.id, deliveryId)).rejects.toMatchObject({ status: 404 })
    expect((await foreign.list()).map((one) => one.id)).toEqual([own.id])
  })

  it('is one of at most a hundred of a team, also when they are created concurrently', async () => {
    const owner = server.signUp()
    const crowded = await getTestEnvironment(server, owner, await server.createTeam(owner))
    await query(
      `insert into crux.notification (team_id, name, type, created_by, updated_by)
       select $1, 'n' || number, 'slack', 'test', 'test' from generate_series(1, 98) as number`,
      [crowded.team.id],
    )
    const { create } = createNotifications(crowded)
    const made = await Promise.allSettled(Array.from({ length: 5 }, () => create()))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  })
})

async function insertDelivery(notificationId: string) {
  const { rows } = await query(
    `insert into crux.notification_delivery (notification_id, event_key, event, text, data, status)
     values ($1, gen_random_uuid(), 'node-added', 'A text', '{"at": "2026-01-01T00:00:00Z", "page": null, "details": {}}', 'failed')
     returning id`,
    [notificationId],
  )
  return { deliveryId: rows[0].id as string }
}

describe('the secret of a webhook', () => {
  it('is kept while it is not sent, replaced, and deleted by null', async () => {
    const { create, get, update } = notifications
    const { id, url } = await create({ secret })
    await update(id, { url })
    expect(await openSecret(id)).toBe(secret)
    await update(id, { url, secret: 'another secret of it' })
    expect(await openSecret(id)).toBe('another secret of it')
    await update(id, { url, secret: null })
    expect(await get(id)).toMatchObject({ hasSecret: false })
  })

  it('signs nothing for another host until it is entered again', async () => {
    const { create, update } = notifications
    const { id } = await create({ url: 'https://one.example.com/a', secret })
    await update(id, { url: 'https://one.example.com/b' })
    for (const url of ['https://two.example.com/b', 'http://one.example.com/b', 'https://one.example.com:8443/b'])
      await expect(update(id, { url })).rejects.toMatchObject({ status: 400, property: 'secret' })
    expect(await openUrl(id)).toBe('https://one.example.com/b')
    await update(id, { url: 'https://two.example.com/b', secret: 'the secret of two' })
    expect(await openSecret(id)).toBe('the secret of two')
  })

  it('ends with the type', async () => {
    const { create, update } = notifications
    const { id } = await create({ secret })
    await update(id, { type: 'slack', url: slackUrl('one') })
    expect((await readRow(id)).secret).toBeNull()
  })
})

describe('a notification by e-mail', () => {
  it('goes to members of the team only', async () => {
    const { create, get } = notifications
    const member = await server.addMember(fixture.team, 'user', 'Mary')
    const made = await create({ type: 'email', url: '', memberIds: [member.id, member.id] })
    expect(made).toMatchObject({ url: '', members: [{ id: member.id, name: 'Mary', email: member.email }] })
    const stranger = server.signUp('Eve')
    for (const userId of [stranger.id, other.owner.id, 'nobody'])
      await expect(create({ type: 'email', url: '', memberIds: [member.id, userId] })).rejects.toMatchObject({
        status: 400,
        property: 'memberIds[1]',
      })
    await query('delete from crux.team_member where user_id = $1', [member.id])
    expect(await get(made.id)).toMatchObject({ members: [] })
  })

  it('is not switched on where no mail can be sent', async () => {
    const without = await startTestServer()
    const { create } = createNotifications(await makeDeployTestEnvironment(without))
    const user = without.people.signUp()
    await expect(create({ type: 'email', url: '', memberIds: [user.id] })).rejects.toMatchObject({
      status: 412,
      property: 'type',
    })
    await without.stop()
  })
})
