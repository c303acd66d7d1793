import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'

/** The mark and the name; a link to the start page. */
export function Brand({ large, markOnly }: { large?: boolean; markOnly?: boolean }) {
  const { t } = useTranslation()
  return (
    <Link
      to="/"
      aria-label={t('product')}
      className={cx(
        'inline-flex items-center gap-[9px] rounded-md font-semibold tracking-[-.01em]',
        large ? 'text-[18px]' : 'text-lead',
      )}
    >
      <span
        aria-hidden
        className="block size-[18px] shrink-0 rounded-sm bg-[linear-gradient(135deg,var(--accent)_46%,transparent_46%)] bg-accent/35"
      />
      {!markOnly && t('product')}
    </Link>
  )
}
