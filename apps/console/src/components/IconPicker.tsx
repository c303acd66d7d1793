import { icons } from '@crux/contract'
import { ToggleGroup } from 'radix-ui'
import { useTranslation } from 'react-i18next'
import { AnimalIcon, type AnimalName } from './AnimalIcon.tsx'

/** The animals to choose from; choosing the chosen one again clears it. */
export function IconPicker({
  value,
  onChange,
}: {
  value: AnimalName | null
  onChange: (value: AnimalName | null) => void
}) {
  const { t } = useTranslation()
  return (
    <ToggleGroup.Root
      type="single"
      aria-label={t('icon.label')}
      value={value ?? ''}
      onValueChange={(next) => onChange(icons.find((icon) => icon === next) ?? null)}
      className="flex flex-wrap gap-1 rounded-md border border-line bg-sunken p-1"
    >
      {icons.map((icon) => (
        <ToggleGroup.Item
          key={icon}
          value={icon}
          aria-label={icon}
          title={icon}
          className="grid size-8 place-items-center rounded-sm text-ink-2 hover:bg-hover hover:text-ink data-[state=on]:bg-accent-soft data-[state=on]:text-accent"
        >
          <AnimalIcon name={icon} />
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
