import { useState } from 'react'
import { apiQuery, queryClient } from '../../api/client.ts'
import { sessionLost } from '../../api/session.ts'
import { toastError } from '../../components/toasts.tsx'
import type { Preview } from './change-lines.ts'

/** The current preview of a start. Undefined if it failed, which is shown: nothing starts without a preview. */
export function useCurrentPreview(teamSlug: string) {
  const [asking, setAsking] = useState(false)
  const preview = async (deployment: { id: string }, instances?: readonly string[]): Promise<Preview | undefined> => {
    setAsking(true)
    const params = { teamSlug, deploymentId: deployment.id }
    const query = instances && { query: { instances: instances.join(',') } }
    try {
      return await queryClient.fetchQuery({ ...apiQuery('deployments.preview', { params, ...query }), staleTime: 0 })
    } catch (error) {
      if (!sessionLost(error)) toastError(error)
      return undefined
    } finally {
      setAsking(false)
    }
  }
  return { preview, asking }
}
