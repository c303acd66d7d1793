import type { BusEventOf } from '../bus/index.ts'
import type { App } from '../context.ts'
import type { ChannelHandler, ChannelHandlers, Subscriber } from '../live/index.ts'
import { findAttempts, latestEvents, readEvents, toEvent } from '../releases/index.ts'
import { bundlesOf } from './details.ts'
import { instancesOfImages } from './instance-store.ts'
import { carriersAmong } from './store.ts'

type ChannelSubscriber = Subscriber<'deployment'>
/** All subscribers of one deployment in this process, and the position up to which they have been sent events. */
type Audience = {
  subscribers: Set<ChannelSubscriber>
  versionId: string
  try: number
  position: number
  turn: Promise<void>
}

/** The live channels of a deployment's pages. New rows are read once per process and sent to all subscribers. */
export function deploymentChannels(app: App): ChannelHandlers<'deployment'> {
  const audiences = new Map<string, Audience>()

  /** Reads from the end of the last list, so that an event that was lost on the bus is included in the next list. */
  async function publish(deploymentId: string, audience: Audience, heard: { try: number; position?: number }) {
    if (heard.try < audience.try) return
    if (heard.try > audience.try) audience.position = 0
    audience.try = heard.try
    if (heard.position !== undefined && heard.position <= audience.position) return
    const rows = await readEvents(app.database.pool, deploymentId, heard.try, { after: audience.position })
    const last = rows.at(-1)
    if (!last) return
    audience.position = last.position
    const events = rows.map(toEvent)
    for (const subscriber of audience.subscribers) subscriber.send('deployment-event-list', events)
  }

  function inTurn(deploymentId: string, audience: Audience, work: () => Promise<void>) {
    audience.turn = audience.turn
      .then(work)
      .catch((err: unknown) => app.log.warn({ err, deploymentId }, 'live events of a deployment were not sent'))
  }

  app.bus.on('deployment.events', ({ deploymentId, try: number, position }) => {
    const audience = audiences.get(deploymentId)
    if (audience) inTurn(deploymentId, audience, () => publish(deploymentId, audience, { try: number, position }))
  })
  app.bus.onReconnected(() => {
    for (const [deploymentId, audience] of audiences)
      inTurn(deploymentId, audience, async () => {
        const [subscriber] = audience.subscribers
        if (!subscriber) return
        const { attempts } = await findAttempts(app, subscriber.team, deploymentId)
        await publish(deploymentId, audience, { try: attempts })
      })
  })
  app.bus.on('images.added', ({ versionId, imageIds }) => {
    for (const [deploymentId, audience] of audiences) {
      if (audience.versionId !== versionId) continue
      inTurn(deploymentId, audience, async () => {
        const added = await instancesOfImages(app, deploymentId, imageIds)
        if (added.length > 0) for (const subscriber of audience.subscribers) subscriber.send('instances-added', added)
      })
    }
  })
  app.bus.on('image.deleted', ({ instances }: BusEventOf<'image.deleted'>) => {
    for (const { deploymentId, instanceId, configId } of instances) {
      const audience = audiences.get(deploymentId)
      // Queued, because it would otherwise be sent before the addition that is being read.
      if (audience)
        inTurn(deploymentId, audience, async () => {
          for (const subscriber of audience.subscribers) subscriber.send('instance-deleted', { instanceId, configId })
        })
    }
  })

  async function publishBundles(deploymentId: string, audience: Audience) {
    const bundles = await bundlesOf(app, deploymentId)
    for (const subscriber of audience.subscribers) subscriber.send('deployment-bundles-updated', { bundles })
  }
  app.bus.on('deployment.bundles', ({ deploymentId }) => {
    const audience = audiences.get(deploymentId)
    if (audience) inTurn(deploymentId, audience, () => publishBundles(deploymentId, audience))
  })
  app.bus.on('config-bundle.changed', ({ configBundleId }) => {
    if (audiences.size === 0) return
    carriersAmong(app.database.pool, configBundleId, [...audiences.keys()])
      .then((carriers) => {
        for (const deploymentId of carriers) {
          const audience = audiences.get(deploymentId)
          if (audience) inTurn(deploymentId, audience, () => publishBundles(deploymentId, audience))
        }
      })
      .catch((err: unknown) => app.log.warn({ err, configBundleId }, 'a changed bundle was not sent'))
  })

  function join(subscriber: ChannelSubscriber, now: { attempts: number; versionId: string; position: number }) {
    const { deploymentId } = subscriber.params
    const audience: Audience = audiences.get(deploymentId) ?? {
      subscribers: new Set(),
      versionId: now.versionId,
      try: now.attempts,
      position: now.position,
      turn: Promise.resolve(),
    }
    audiences.set(deploymentId, audience)
    audience.subscribers.add(subscriber)
    subscriber.onLeave(() => {
      audience.subscribers.delete(subscriber)
      if (audience.subscribers.size === 0 && audiences.get(deploymentId) === audience) audiences.delete(deploymentId)
    })
  }

  const channel: ChannelHandler<'deployment'> = {
    async open(subscriber) {
      const now = await findAttempts(app, subscriber.team, subscriber.params.deploymentId)
      if (!subscriber.left) join(subscriber, now)
    },
    messages: {
      async 'fetch-deployment-events'(subscriber) {
        subscriber.send(
          'deployment-event-list',
          await latestEvents(app, subscriber.team, subscriber.params.deploymentId),
        )
      },
      // The hub handles presence messages before a channel gets them.
      'focus-input': async () => undefined,
      'blur-input': async () => undefined,
    },
  }
  return { deployment: channel }
}
