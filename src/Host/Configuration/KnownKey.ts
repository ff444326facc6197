/**
 * What the sections know of a key.
 */
import { fold, type Source } from "./Assignment.ts"
import { type OwnedSection, textCodec } from "./Decode.ts"
import { nearest } from "./Nearest.ts"
import { placeAt, type SchemaPlace, shapeOf } from "./SchemaShape.ts"
import { isHarmless, isSecretName, isSecretSource } from "./Secrecy.ts"

/** A key in the section that it belongs to. */
export interface KnownKey extends OwnedSection {
  /** The key as the section spells it. */
  readonly key: string
  readonly place: SchemaPlace
}

/** Finds the section of a key: of several, the one with the longest path. Undefined where it belongs to none. */
export const find = (sections: ReadonlyArray<OwnedSection>, path: ReadonlyArray<string>): KnownKey | undefined => {
  const key = fold(path.join(":"))
  const [owned] = sections
    .filter(({ section }) => `${key}:`.startsWith(`${fold(section.path)}:`))
    .toSorted((a, b) => b.section.path.length - a.section.path.length)
  if (owned === undefined) return undefined
  const place = placeAt(textCodec(owned.section).ast, below(owned, path))
  return { ...owned, place, key: [owned.section.path, ...place.path].join(":") }
}

const below = ({ section }: OwnedSection, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  path.slice(section.path.split(":").length)

/** Whether a value (a text) must not be shown: its Schema, a name in its key or its file says that it is a secret. */
export const isSecret = (
  sections: ReadonlyArray<OwnedSection>,
  path: ReadonlyArray<string>,
  source: Source,
  text: string
): boolean => {
  if (isSecretSource(source)) return true
  const known = find(sections, path)
  // The name of a section says nothing of the values in it: "credentials" may hold a plain URL, too.
  const names = known === undefined ? path : below(known, path)
  if (known === undefined) return names.some(isSecretName)
  if (known.place.secret || isNearSecret(known, names)) return true
  return names.some(isSecretName) && !(known.place.isKnown && isHarmless(text, known.place.shape))
}

/** Whether a key that the section does not know is one of its secrets, or stands in one, misspelled. */
const isNearSecret = ({ place, section }: KnownKey, path: ReadonlyArray<string>): boolean => {
  if (place.isKnown) return false
  const { ast } = textCodec(section)
  const unknown = path.findIndex((_, index) => !placeAt(ast, path.slice(0, index + 1)).isKnown)
  const { objects } = placeAt(ast, path.slice(0, unknown)).shape
  const properties = objects.flatMap(({ propertySignatures }) => propertySignatures)
  const names = properties.map(({ name }) => String(name))
  const meant = nearest(path[unknown]!, names)
  return properties.some(({ name, type }) => name === meant && shapeOf([type]).secret)
}
