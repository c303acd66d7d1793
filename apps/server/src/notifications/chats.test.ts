import { notificationUrlExamples } from '@crux/rules'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { createNotifications, type Receiver, redirectTo, startReceiver } from '../../test/notification-kit.ts'

let server: TestServer
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  server = await startTestServer({ overrides: { outbound: redirectTo(() => receiver) } })
})
afterAll(async () => {
  await server.stop()
  await receiver.stop()
})

it.each([
  ['discord', (body: { embeds: { description: string }[] }) => body.embeds[0]?.description],
  ['slack', (body: { blocks: unknown[] }) => JSON.stringify(body.blocks[0])],
  ['teams', (body: { attachments: { content: unknown }[] }) => JSON.stringify(body.attachments[0]?.content)],
  ['rocket', (body: { attachments: { text: string }[] }) => body.attachments[0]?.text],
  ['mattermost', (body: { attachments: { text: string }[] }) => body.attachments[0]?.text],
] as const)('an event is posted once to the whole address of %s, in its format', async (type, getText) => {
  const notifications = createNotifications(await makeDeployTestEnvironment(server))
  const url = notificationUrlExamples[type]
  const { id } = await notifications.create({ type, url })
  await notifications.addNode('Rack 7')
  await until(async () => (await notifications.deliveries(id))[0]?.status === 'delivered')
  const sent = receiver.received.filter(({ headers }) => headers['x-meant-for'] === url)
  expect(sent).toHaveLength(1)
  expect(sent[0]?.headers['content-type']).toBe('application/json')
  expect(getText(JSON.parse(sent[0]?.body ?? ''))).toContain('Rack 7')
})
