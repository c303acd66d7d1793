import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../Button.tsx'

type Props = {
  query: string
  onQuery: (query: string) => void
  /** Matches so far, and which of them is the current one, from 1; 0 = none yet. */
  total: number
  current: number
  onStep: (step: 1 | -1) => void
  onClose: () => void
}

/** Enter goes to the next match, Shift+Enter to the previous, Escape closes. */
export function LogSearchBar({ query, onQuery, total, current, onStep, onClose }: Props) {
  const { t } = useTranslation('log')
  const none = total === 0 && t('noMatch')
  return (
    <search className="flex items-center gap-1 border-b border-line bg-surface px-3 py-1.5">
      <input
        type="search"
        aria-label={t('search')}
        placeholder={t('search')}
        // biome-ignore lint/a11y/noAutofocus: the user has just opened it
        autoFocus
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            onStep(event.shiftKey ? -1 : 1)
          }
          if (event.key === 'Escape') {
            event.stopPropagation()
            onClose()
          }
        }}
        className="mono h-[26px] min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2 [&::-webkit-search-cancel-button]:hidden"
      />
      <span role="status" className="px-1 text-small whitespace-nowrap text-ink-2 tabular-nums">
        {query === '' ? '' : current > 0 ? t('matchPosition', { current, total }) : t('matches', { count: total })}
      </span>
      <IconButton icon={ChevronUp} label={t('previous')} size="sm" disabledReason={none} onClick={() => onStep(-1)} />
      <IconButton icon={ChevronDown} label={t('next')} size="sm" disabledReason={none} onClick={() => onStep(1)} />
      <IconButton icon={X} label={t('closeSearch')} size="sm" onClick={onClose} />
    </search>
  )
}
