import { FileDown } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Action } from '../../components/Menu.tsx'

/** Downloads a version as a compose file. Everyone who sees the version may do it. */
export function useExportAction(
  teamSlug: string,
  { projectId, versionId }: { projectId: string; versionId: string },
): Action {
  const { t } = useTranslation('versions')
  return {
    id: 'export',
    icon: FileDown,
    label: t('export'),
    run: () => location.assign(`/api/${teamSlug}/projects/${projectId}/versions/${versionId}/compose`),
  }
}
