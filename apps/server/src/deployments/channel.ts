import type { App } from '../context.ts'
import type { ChannelHandlers, Subscriber } from '../live/index.ts'
import { findAttempts, latestEvents, readEvents, toEvent } from '../releases/index.ts'
import { listBundles } from './details.ts'
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

/** The live channels of a deployment's pages. New events are read once per process and sent to all subscribers. */
export function deploymentChannels(app: App): ChannelHandlers<'deployment'> {
  const audiences = new Audiences(app)
  publishChanges(app, audiences)
  return {
    deployment: {
      async open(subscriber) {
        const now = await findAttempts(app.database.pool, subscriber.team.id, subscriber.params.deploymentId)
        if (!subscriber.left) audiences.join(subscriber, now)
      },
      messages: {
        async 'fetch-deployment-events'(subscriber) {
          const events = await latestEvents(app, subscriber.team, subscriber.params.deploymentId)
          subscriber.send('deployment-event-list', events)
        },
      },
    },
  }
}

class Audiences {
  readonly byDeployment = new Map<string, Audience>()
  private readonly app: App

  constructor(app: App) {
    this.app = app
  }

  join(subscriber: ChannelSubscriber, now: { attempts: number; versionId: string; position: number }): void {
    const { deploymentId } = subscriber.params
    const audience: Audience = this.byDeployment.get(deploymentId) ?? {
      subscribers: new Set(),
      versionId: now.versionId,
      try: now.attempts,
      position: now.position,
      turn: Promise.resolve(),
    }
    this.byDeployment.set(deploymentId, audience)
    audience.subscribers.add(subscriber)
    subscriber.onLeave(() => {
      audience.subscribers.delete(subscriber)
      if (audience.subscribers.size === 0 && this.byDeployment.get(deploymentId) === audience)
        this.byDeployment.delete(deploymentId)
    })
  }

  /** Work for one deployment runs one after another; without subscribers there is none. */
  inTurn(deploymentId: string, work: (audience: Audience) => Promise<void>): void {
    const audience = this.byDeployment.get(deploymentId)
    if (!audience) return
    audience.turn = audience.turn
      .then(() => work(audience))
      .catch((err: unknown) => this.app.log.warn({ err, deploymentId }, 'live events of a deployment were not sent'))
  }

  /** Reads from the end of the last list, so that an event that was lost on the bus is included in the next list. */
  async publish(deploymentId: string, audience: Audience, heard: { try: number; position?: number }): Promise<void> {
    if (heard.try < audience.try) return
    if (heard.try > audience.try) audience.position = 0
    audience.try = heard.try
    if (heard.position !== undefined && heard.position <= audience.position) return
    const rows = await readEvents(this.app.database.pool, deploymentId, heard.try, { after: audience.position })
    const last = rows.at(-1)
    if (!last) return
    audience.position = last.position
    const events = rows.map(toEvent)
    for (const subscriber of audience.subscribers) subscriber.send('deployment-event-list', events)
  }

  publishBundles(deploymentId: string): void {
    this.inTurn(deploymentId, async ({ subscribers }) => {
      const bundles = await listBundles(this.app, deploymentId)
      for (const subscriber of subscribers) subscriber.send('deployment-bundles-updated', { bundles })
    })
  }
}

function publishChanges(app: App, audiences: Audiences): void {
  const { byDeployment } = audiences
  app.bus.on('deployment.events', ({ deploymentId, try: number, position }) =>
    audiences.inTurn(deploymentId, (audience) => audiences.publish(deploymentId, audience, { try: number, position })),
  )
  app.bus.onReconnected(() => {
    for (const deploymentId of byDeployment.keys())
      audiences.inTurn(deploymentId, async (audience) => {
        const [subscriber] = audience.subscribers
        if (!subscriber) return
        const { attempts } = await findAttempts(app.database.pool, subscriber.team.id, deploymentId)
        await audiences.publish(deploymentId, audience, { try: attempts })
      })
  })
  app.bus.on('images.added', ({ versionId, imageIds }) => {
    for (const [deploymentId, audience] of byDeployment) {
      if (audience.versionId !== versionId) continue
      audiences.inTurn(deploymentId, async ({ subscribers }) => {
        const added = await instancesOfImages(app, deploymentId, imageIds)
        if (added.length > 0) for (const subscriber of subscribers) subscriber.send('instances-added', added)
      })
    }
  })
  app.bus.on('image.deleted', ({ instances }) => {
    // Queued, because it would otherwise be sent before the addition that is being read.
    for (const { deploymentId, instanceId, configId } of instances)
      audiences.inTurn(deploymentId, async ({ subscribers }) => {
        for (const subscriber of subscribers) subscriber.send('instance-deleted', { instanceId, configId })
      })
  })
  app.bus.on('deployment.following', ({ deploymentId }) =>
    audiences.inTurn(deploymentId, async ({ subscribers }) => {
      for (const subscriber of subscribers) subscriber.send('following-updated', {})
    }),
  )
  app.bus.on('deployment.bundles', ({ deploymentId }) => audiences.publishBundles(deploymentId))
  app.bus.on('config-bundle.changed', ({ configBundleId }) => {
    if (byDeployment.size === 0) return
    carriersAmong(app.database.pool, configBundleId, [...byDeployment.keys()])
      .then((carriers) => {
        for (const deploymentId of carriers) audiences.publishBundles(deploymentId)
      })
      .catch((err: unknown) => app.log.warn({ err, configBundleId }, 'a changed bundle was not sent'))
  })
}
