import { icons } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { AnimalIcon, type AnimalName } from './AnimalIcon.tsx'

type Props = { value: AnimalName | null; onChange: (value: AnimalName | null) => void }

/** The animals to choose from; choosing the chosen one again clears it. */
export function IconPicker({ value, onChange }: Props) {
  const { t } = useTranslation()
  return (
    <fieldset aria-label={t('icon.label')} className="flex flex-wrap gap-1 rounded-md border border-line bg-sunken p-1">
      {icons.map((icon) => (
        <button
          key={icon}
          type="button"
          aria-label={icon}
          aria-pressed={icon === value}
          title={icon}
          onClick={() => onChange(icon === value ? null : icon)}
          className="grid size-8 place-items-center rounded-sm text-ink-2 hover:bg-hover hover:text-ink aria-pressed:bg-accent-soft aria-pressed:text-accent"
        >
          <AnimalIcon name={icon} />
        </button>
      ))}
    </fieldset>
  )
}
