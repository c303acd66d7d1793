import { ApiError } from '@crux/client'
import type { useNavigate } from '@tanstack/react-router'
import i18n from 'i18next'
import { toastWarning } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'

/** 409 carries the id of the conflicting deployment, and the console opens it. */
export const isExistingDeployment = (error: unknown): error is ApiError & { value: string } =>
  error instanceof ApiError &&
  (error.error === 'rollingVersionDeployment' || error.error === 'alreadyHavePreparing') &&
  typeof error.value === 'string'

export async function goToExisting(
  error: unknown,
  teamSlug: string,
  navigate: ReturnType<typeof useNavigate>,
): Promise<boolean> {
  if (!isExistingDeployment(error)) return false
  toastWarning(
    i18n.t(error.error === 'alreadyHavePreparing' ? 'existing.preparing' : 'existing.rolling', { ns: 'deployments' }),
  )
  await navigate({ ...links.deployment(teamSlug, error.value), ...replaceFormEntry() })
  return true
}
