import { type Database, listen } from '@crux/postgres'
import type { Logger } from '@crux/service-kit'
import { type Db, PgBoss } from 'pg-boss'
import type { Queries } from '../db/queries.ts'

export type JobOptions = {
  /** The number of attempts after the first one; the delay between them doubles from `retryDelayS`. */
  retriesMax?: number
  retryDelayS?: number
}

/**
 * Jobs survive a crash of this process, stored in schema `jobs`. Each runs at least once, so that handlers must be
 * repeatable.
 */
export interface Jobs {
  /** Registers the handler of the jobs of this name. Call before `start`. */
  handle<T extends object>(name: string, options: JobOptions, work: (data: T) => Promise<void>): void
  /** Repeats `work` by a cron line (minutes, UTC); once per due time over all server processes. */
  schedule(name: string, cron: string, work: () => Promise<void>): void
  /** @param options.within the transaction that the job belongs to: the job runs if and only if it commits */
  send(name: string, data: object, options?: { within?: Queries }): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

type Job<T> = { name: string; options: JobOptions; work: (data: T) => Promise<void>; cron?: string }

/** A job that takes longer counts as failed and is tried again. */
const jobS = 300
const retryPollMs = 5_000
/** Longer than the longest delay between two attempts, which doubles ten times from five seconds. */
const retryWatchMs = 2 * 3_600_000

type Options = { url: string; database: Pick<Database, 'pool'>; log: Logger }

export function createJobs(options: Options): Jobs {
  const boss = createBoss(options)
  boss.on('error', (err) => options.log.warn({ err }, 'the job queue has lost the database, it tries again'))
  /** Each starts one kind of jobs. */
  const declared: (() => Promise<void>)[] = []
  let started = false

  async function open<T extends object>(job: Job<T>) {
    const { retriesMax = 10, retryDelayS = 5 } = job.options
    await boss.createQueue(job.name, {
      retryLimit: retriesMax,
      retryDelay: retryDelayS,
      retryBackoff: true,
      expireInSeconds: jobS,
      notify: true,
    })
    // Notifications wake a worker. Polling finds only retries that another process left.
    const pace = { pollingIntervalSeconds: 5, notifyPollingIntervalSeconds: retriesMax > 0 ? 30 : 600 }
    let worker: string | undefined
    const wake = () => {
      if (worker && started) boss.notifyWorker(worker)
    }
    const pollForRetry = createRetryPolls({ wake, isStarted: () => started })
    worker = await boss.work<T>(job.name, pace, async (jobs) => {
      // Several concurrent notifications wake the worker for one job; after each job the worker looks for the next one.
      wake()
      for (const { data, id } of jobs) {
        try {
          await job.work(data)
        } catch (err) {
          options.log.warn({ err, job: job.name, jobId: id }, 'a job failed, it is tried again')
          if (retriesMax > 0) pollForRetry()
          throw err
        }
      }
    })
    if (job.cron) await boss.schedule(job.name, job.cron)
  }

  return {
    handle: (name, jobOptions, work) => void declared.push(() => open({ name, options: jobOptions, work })),
    schedule: (name, cron, work) => void declared.push(() => open({ name, options: { retriesMax: 0 }, work, cron })),
    async send(name, data, { within } = {}) {
      await boss.send(name, data, {
        ...(within && { db: { executeSql: (text: string, values?: unknown[]) => within.query(text, values) } }),
      })
    },
    async start() {
      started = true
      await boss.start()
      for (const openJob of declared) await openJob()
    },
    async stop() {
      if (!started) return
      started = false
      await boss.stop({ graceful: true, timeout: 1_000 })
    },
  }
}

function createBoss({ url, database, log }: Options): PgBoss {
  // The queue uses the server's own connections, because a pool of its own would open new ones for each poll.
  const db: Db = {
    executeSql: (text, values) => database.pool.query(text, values),
    async listen(channel, onMessage, onReconnect) {
      const listener = listen({ url, channel, onMessage, onReconnect, log })
      await listener.ready
      onReconnect()
      return { close: listener.stop }
    },
  }
  return new PgBoss({
    db,
    schema: 'jobs',
    useListenNotify: true,
    // No job here waits for another one, the queues are those that `open` creates below, and scheduled jobs are hourly
    // or daily.
    flowIntervalSeconds: 3_600,
    queueCacheIntervalSeconds: 3_600,
    bamIntervalSeconds: 3_600,
    cronWorkerIntervalSeconds: 45,
  })
}

/**
 * No notification is sent for a retry, so that the worker polls every few seconds while a retry of this process waits.
 *
 * @returns the function to call when a job has failed
 */
function createRetryPolls({ wake, isStarted }: { wake: () => void; isStarted: () => boolean }) {
  let failedAt = 0
  let polls: NodeJS.Timeout | undefined
  return () => {
    failedAt = Date.now()
    polls ??= setInterval(() => {
      wake()
      if (isStarted() && Date.now() - failedAt < retryWatchMs) return
      clearInterval(polls)
      polls = undefined
    }, retryPollMs).unref()
  }
}
