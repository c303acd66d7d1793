import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'

/** As long as a filter in an address or in a query may be. */
const lengthMax = 255

type Props = {
  value: string
  onChange: (value: string) => void
  label: string
  delayMs?: number
  className?: string
  autoFocus?: boolean
}

/** A filter box; with `delayMs` it reports only after a pause in typing. */
export function SearchBox({ value, onChange, label, delayMs = 0, className, autoFocus }: Props) {
  const { t } = useTranslation()
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The delayed report uses the latest callback, because other filters may have changed meanwhile.
  const notify = useRef(onChange)
  notify.current = onChange
  // A reported text returns as `value` later, when more may have been typed. Another value was set from outside.
  const reported = useRef([value])
  useEffect(() => {
    const position = reported.current.indexOf(value)
    reported.current = position < 0 ? [value] : reported.current.slice(position)
    if (position >= 0) return
    clearTimeout(timer.current)
    setText(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])

  const report = (next: string, atOnce = delayMs === 0 || next === '') => {
    const now = () => {
      reported.current.push(next)
      notify.current(next)
    }
    setText(next)
    clearTimeout(timer.current)
    if (atOnce) now()
    else timer.current = setTimeout(now, delayMs)
  }
  return (
    <div className={cx('relative min-w-0', className ?? 'w-80 max-md:w-full')}>
      <Search aria-hidden className="pointer-events-none absolute top-[7px] left-[9px] text-ink-3" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        maxLength={lengthMax}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: only where opening the box is itself the user's action
        autoFocus={autoFocus}
        onChange={(event) => report(event.target.value)}
        // Enter searches immediately, and does not submit a surrounding form.
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
          event.preventDefault()
          if (text !== reported.current.at(-1)) report(text, true)
        }}
        className="h-[30px] w-full rounded-md border border-line-strong bg-surface pr-7 pl-8 [&::-webkit-search-cancel-button]:hidden"
      />
      {text !== '' && (
        <button
          type="button"
          aria-label={t('clear')}
          onClick={() => report('')}
          className="absolute top-[7px] right-[8px] text-ink-3 hover:text-ink"
        >
          <X aria-hidden className="size-4" />
        </button>
      )}
    </div>
  )
}
