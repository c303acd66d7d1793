import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import { createAzureApi } from './api/azure-api.ts'
import { createGithubApi } from './api/github-api.ts'
import { createGitlabApi } from './api/gitlab-api.ts'
import { type PipelineApi, type PipelineLocation, PipelineServiceError } from './api/pipeline-api.ts'
import { selectTokenAt } from './store.ts'

export function openPipeline(
  { outbound, config }: Pick<App, 'outbound' | 'config'>,
  location: PipelineLocation,
  token: string,
): PipelineApi {
  const given = { outbound, location, token }
  if (location.type === 'azure') return createAzureApi({ ...given, url: config.azureUrl })
  if (location.type === 'github') return createGithubApi({ ...given, url: config.githubApiUrl })
  return createGitlabApi({ ...given, url: config.gitlabUrl })
}

export const sealToken = (app: Pick<App, 'cipher'>, pipelineId: string, token: string): string =>
  app.cipher.encrypt(token, { column: 'pipeline.token', row: pipelineId })

/** @throws CruxError preconditionFailed `token` when the key that encrypted it is missing */
export function openToken(app: Pick<App, 'cipher'>, pipelineId: string, sealed: string | undefined): string {
  try {
    return app.cipher.decrypt(sealed ?? '', { column: 'pipeline.token', row: pipelineId })
  } catch (cause) {
    throw new CruxError('preconditionFailed', {
      property: 'token',
      description: 'The stored token of the pipeline cannot be opened any more: enter it again.',
      cause,
    })
  }
}

/** @throws CruxError preconditionFailed `pipelineId` when the pipeline has moved or was deleted meanwhile */
export async function readTokenAt(
  app: Pick<App, 'cipher' | 'database'>,
  { pipelineId, moves }: { pipelineId: string; moves: number },
): Promise<string> {
  const sealed = await selectTokenAt(app.database.pool, pipelineId, moves)
  if (sealed === undefined) throw changedMeanwhile()
  return openToken(app, pipelineId, sealed)
}

export const changedMeanwhile = () =>
  new CruxError('preconditionFailed', {
    property: 'pipelineId',
    description: 'Someone else changed or deleted this pipeline meanwhile: load it again.',
  })

/** The error for the caller whose request needed the service. */
export function toCallerError(error: unknown): unknown {
  if (!(error instanceof PipelineServiceError)) return error
  const { kind, property, message, retryAfterS, cause } = error
  const code = { token: 'forbidden', notFound: 'notFound', refused: 'invalidArgument' } as const
  const fields = { property, description: message, ...(cause !== undefined && { cause }) }
  if (kind === 'token' || kind === 'notFound' || kind === 'refused') return new CruxError(code[kind], fields)
  return new CruxError('preconditionFailed', { ...fields, ...(retryAfterS !== undefined && { retryAfterS }) })
}
