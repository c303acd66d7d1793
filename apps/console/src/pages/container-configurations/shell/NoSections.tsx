import { SlidersHorizontal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { everydaySections, type SectionId } from '../form/sections.ts'

type Props = {
  /** A search or a filter leaves no section. */
  isSearch: boolean
  onReset: () => void
  /** No layer sets anything. */
  isEmpty: boolean
  readOnly: boolean
  onBegin: (id: SectionId) => void
}

/** A form that shows no section, and the ways on. */
export function NoSections({ isSearch, onReset, isEmpty, readOnly, onBegin }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  if (isSearch)
    return (
      <EmptyState
        icon={SlidersHorizontal}
        title={t('filter.nothing')}
        text={t('filter.nothingText')}
        action={<Button onClick={onReset}>{t('common:filter.reset')}</Button>}
      />
    )
  return (
    <EmptyState
      icon={SlidersHorizontal}
      title={t(isEmpty ? 'filter.empty' : 'filter.hidden')}
      text={t(readOnly ? 'filter.emptyReadOnly' : 'filter.emptyText')}
      action={
        <span className="flex flex-wrap gap-2">
          {everydaySections.map((id) => (
            <Button key={id} onClick={() => onBegin(id)}>
              {t(`section.${id}`)}
            </Button>
          ))}
        </span>
      }
    />
  )
}
