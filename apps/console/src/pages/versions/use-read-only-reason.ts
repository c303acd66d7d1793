import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'

/** Why the images of a version are fixed; null if they are not. A fixed version without a next one was deployed. */
export function useReadOnlyReason(version: Pick<ResponseOf<'versions.get'>, 'mutable' | 'increasable'>): string | null {
  const { t } = useTranslation('versions')
  if (version.mutable) return null
  return t(version.increasable ? 'immutable' : 'superseded')
}
