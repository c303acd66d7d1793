import { ApiError } from '@crux/client'
import type { Deployment } from '@crux/contract'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { client, queryClient, queryKey } from '../../api/client.ts'
import { useDeniedPart } from '../../api/me.ts'
import { sessionLost } from '../../api/session.ts'
import { useFreezeQuestion } from '../../api/use-freeze-question.ts'
import { confirm } from '../../components/confirm.tsx'
import { toastError } from '../../components/toasts.tsx'
import { links } from '../../routing/links.ts'

export type NamedDeployment = Pick<Deployment, 'id' | 'prefix' | 'node' | 'project' | 'version'>
export type StartOptions = {
  instances?: string[]
  recreate?: boolean
  /** Of the preview that was shown: a start of anything else is refused. */
  expectedHash?: string | undefined
}
type StartRequest =
  | ({ deployment: NamedDeployment } & StartOptions)
  | { deployment: NamedDeployment; release: number; takeBackFields?: true }

type Agreed = { ignoreProtected?: true; overrideFreeze?: string }

/** Sends a start and goes to its progress. Another protected deployment in the way, and a freeze, are asked about. */
export function useStartCall(teamSlug: string) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const protectDenied = useDeniedPart('deployments.protect')
  const { askWhy } = useFreezeQuestion()
  const invalidate = (
    operations: readonly ('deployments.get' | 'deployments.preview' | 'deployments.releases')[],
    { id }: NamedDeployment,
  ) => {
    for (const operation of operations)
      void queryClient.invalidateQueries({ queryKey: queryKey(operation, { params: { teamSlug, deploymentId: id } }) })
  }
  const askProtected = async ({ deployment }: StartRequest): Promise<Agreed | null> => {
    const sure = await confirm({
      title: t('start.protectedTitle', { prefix: deployment.prefix, node: deployment.node.name }),
      text: protectDenied ? `${t('start.protectedText')} ${protectDenied}.` : t('start.protectedText'),
      ...(protectDenied
        ? { action: t('common:close'), info: true }
        : { action: t('start.protectedAction'), danger: true }),
    })
    return sure && !protectDenied ? { ignoreProtected: true } : null
  }
  const askFreeze = async (description: string): Promise<Agreed | null> => {
    const overrideFreeze = await askWhy(description)
    return overrideFreeze === null ? null : { overrideFreeze }
  }
  /** False where the user did not go on. */
  const sendAsking = async (request: StartRequest, agreed: Agreed): Promise<boolean> => {
    try {
      await send(teamSlug, request, agreed)
      return true
    } catch (error) {
      const property = error instanceof ApiError ? error.property : undefined
      const isProtected = property === 'protectedDeploymentId' && !agreed.ignoreProtected
      const isFrozen = property === 'freezeWindow' && agreed.overrideFreeze === undefined
      if (!(error instanceof ApiError) || !(isProtected || isFrozen)) throw error
      const more = await (isProtected ? askProtected(request) : askFreeze(error.message))
      return more !== null && sendAsking(request, { ...agreed, ...more })
    }
  }
  const start = useMutation<boolean, unknown, StartRequest>({
    mutationFn: (request) => sendAsking(request, {}),
    onSuccess: async (started, { deployment }) => {
      if (!started) return
      invalidate(['deployments.get', 'deployments.releases'], deployment)
      void queryClient.invalidateQueries({ queryKey: queryKey('deployments.list') })
      await navigate(links.deploymentProgress(teamSlug, deployment.id))
    },
    onError: (error, { deployment }) => {
      if (error instanceof ApiError && (error.property === 'expectedHash' || error.property === 'number'))
        invalidate(['deployments.preview', 'deployments.get', 'deployments.releases'], deployment)
      if (!sessionLost(error)) toastError(error)
    },
  })
  // A second click before the button is disabled must not start a second release.
  const underWay = useRef(false)
  const startOnce = (request: StartRequest) => {
    if (underWay.current) return
    underWay.current = true
    start.mutate(request, {
      onSettled: () => {
        underWay.current = false
      },
    })
  }
  return { startOnce, isPending: start.isPending }
}

async function send(teamSlug: string, request: StartRequest, agreed: Agreed): Promise<void> {
  const deploymentId = request.deployment.id
  const { overrideFreeze } = agreed
  const query = agreed.ignoreProtected ? { ignoreProtected: 'true' } : {}
  if ('release' in request) {
    const { takeBackFields } = request
    await client.call('deployments.start-release', {
      params: { teamSlug, deploymentId, number: request.release },
      query,
      ...((overrideFreeze !== undefined || takeBackFields) && { body: { overrideFreeze, takeBackFields } }),
    })
    return
  }
  const { instances, recreate, expectedHash } = request
  const body = { instances, recreate, expectedHash, overrideFreeze }
  await client.call('deployments.start', { params: { teamSlug, deploymentId }, query, body })
}
