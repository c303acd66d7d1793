import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../components/Button.tsx'
import { Select } from '../../components/Field.tsx'
import type { Release } from './release.ts'

type Props = { releases: readonly Release[]; number: number; onPick: (number: number) => void }

/** Selects the release of the deployment to show; hidden if there is only one. */
export function ReleasePicker({ releases, number, onPick }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  if (releases.length < 2) return null
  // Newest first, as they come.
  const at = releases.findIndex((release) => release.number === number)
  const older = releases[at + 1]
  const newer = at > 0 ? releases[at - 1] : undefined
  return (
    <span className="flex items-center gap-0.5 max-md:basis-full!">
      <IconButton
        icon={ChevronLeft}
        label={t('progress.older')}
        disabledReason={!older && t('progress.atOldest')}
        onClick={() => older && onPick(older.number)}
      />
      <Select
        aria-label={t('progress.choose')}
        value={number || ''}
        onChange={(event) => onPick(Number(event.target.value))}
        options={releases.map(({ number, status }) => ({
          value: number,
          label: t('progress.option', { number, status: t(`common:state.deployment.${status}`) }),
        }))}
      />
      <IconButton
        icon={ChevronRight}
        label={t('progress.newer')}
        disabledReason={!newer && t('progress.atNewest')}
        onClick={() => newer && onPick(newer.number)}
      />
    </span>
  )
}
