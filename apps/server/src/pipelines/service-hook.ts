import { randomBytes } from 'node:crypto'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { type PipelineApi, type PipelineLocation, PipelineServiceError } from './api/pipeline-api.ts'
import { openPipeline } from './connection.ts'
import type { HookValues } from './store.ts'

const paths = { azure: 'azure/pipeline-state', github: 'github', gitlab: 'gitlab' } as const

/**
 * Creates the hook that reports the state of runs. A service that refuses it does not prevent the pipeline: its runs are
 * asked for instead.
 */
export async function createHook(
  app: App,
  { team, pipelineId, type }: { team: TeamContext; pipelineId: string; type: PipelineLocation['type'] },
  api: PipelineApi,
): Promise<HookValues> {
  const secret = randomBytes(32).toString('base64url')
  // GitHub refuses a second hook of the same address, which a pipeline has for a moment while its hook is replaced.
  const query = `?hook=${randomBytes(6).toString('hex')}`
  const url = `${app.config.url}/api/${team.slug}/pipelines/${pipelineId}/hooks/${paths[type]}${query}`
  try {
    const externalId = await api.createHook({ url, secret })
    const sealed = app.cipher.encrypt(secret, { column: 'pipeline_hook.secret', row: pipelineId })
    return { externalId, secret: sealed, problem: null }
  } catch (error) {
    if (!(error instanceof PipelineServiceError)) throw error
    app.log.info({ err: error, pipelineId }, 'a service did not create the hook of a pipeline')
    return { externalId: null, secret: null, problem: error.message }
  }
}

export type OldHook = { id: string; location: PipelineLocation; tokens: readonly string[] }

/**
 * Deletes a hook that is no longer needed, with the first token that the service accepts.
 *
 * @returns why it could not be deleted; undefined when it is gone
 */
export async function deleteHook(
  app: App,
  { id, location, tokens }: OldHook,
): Promise<{ hook: { deleted: boolean; description: string } } | undefined> {
  let problem = 'The stored token of the pipeline cannot be opened any more.'
  for (const token of tokens) {
    try {
      await openPipeline(app, location, token).deleteHook(id)
      return undefined
    } catch (error) {
      if (!(error instanceof PipelineServiceError)) throw error
      problem = error.message
    }
  }
  const { organization, project } = location
  const description = `The hook at ${organization}/${project} could not be deleted: ${problem} Delete it there; until then its deliveries are refused.`
  return { hook: { deleted: false, description } }
}
