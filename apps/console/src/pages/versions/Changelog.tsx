import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'

/** Longer ones are folded, so that the images stay in view. */
const shortLines = 6
const shortCharacters = 600

/** What changed in a version: on its page whether or not the version can still be edited. */
export function Changelog({ text }: { text: string | null | undefined }) {
  const { t } = useTranslation('versions')
  const [open, setOpen] = useState(false)
  const id = useId()
  if (!text) return null
  const isLong = text.length > shortCharacters || text.split('\n').length > shortLines
  return (
    <section aria-label={t('changelog')} className="mb-4 max-w-[80ch]">
      <h2 className="text-small text-ink-2">{t('changelog')}</h2>
      <p id={id} className={cx('mt-0.5 wrap-anywhere whitespace-pre-wrap', isLong && !open && 'line-clamp-6')}>
        {text}
      </p>
      {isLong && (
        <Button size="sm" className="mt-1.5" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          {t(open ? 'changelogLess' : 'changelogMore')}
        </Button>
      )}
    </section>
  )
}
