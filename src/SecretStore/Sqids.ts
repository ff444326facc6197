/**
 * The encoding of numbers as short texts by https://sqids.org, with its default alphabet and no words to avoid.
 *
 * The library shuffles the alphabet for each number of each text. Which alphabets come up depends on the first character
 * alone, so here each is made once. A list of words to avoid is out of place for what is stored: a word that a later list
 * adds would change the spelling of texts that are in use already.
 */

/** The text of some safe integers, none of them negative. */
export const encode = (numbers: ReadonlyArray<number>): string => {
  let sum = numbers.length
  for (let i = 0; i < numbers.length; i++) sum += shuffled.charCodeAt(numbers[i]! % size) + i
  const start = sum % size
  let text = shuffled[start]!
  for (let i = 0; i < numbers.length; i++) {
    const { digits } = alphabetOf(start, i)
    if (i > 0) text += alphabetOf(start, i - 1).separator
    text += digitsOf(numbers[i]!, digits)
  }
  return text
}

/** The numbers that a text of letters and digits stands for. For one that {@link encode} does not make, any numbers. */
export const decode = (text: string): ReadonlyArray<number> => {
  const start = shuffled.indexOf(text[0]!)
  const numbers: Array<number> = []
  let alphabet = alphabetOf(start, 0)
  let number = 0
  for (let i = 1; i < text.length; i++) {
    const value = alphabet.values[text.charCodeAt(i)]!
    if (value >= 0) {
      number = number * base + value
    } else {
      numbers.push(number)
      number = 0
      alphabet = alphabetOf(start, numbers.length)
    }
  }
  numbers.push(number)
  return numbers
}

/** What the digits of one number are written with. */
interface Alphabet {
  /** Stands between the number and the next one. */
  readonly separator: string
  readonly digits: string
  /** The value of each digit by its character's code; -1 for the separator. */
  readonly values: Int8Array
  readonly next: string
}

const digitsOf = (number: number, digits: string): string => {
  let text = ""
  let rest = number
  do {
    const higher = Math.floor(rest / base)
    text = digits[rest - higher * base]! + text
    rest = higher
  } while (rest > 0)
  return text
}

const shuffle = (alphabet: string): string => {
  const characters = [...alphabet]
  for (let i = 0, j = characters.length - 1; j > 0; i++, j--) {
    const other = (i * j + characters[i]!.charCodeAt(0) + characters[j]!.charCodeAt(0)) % characters.length
    ;[characters[i], characters[other]] = [characters[other]!, characters[i]!]
  }
  return characters.join("")
}

const shuffled = shuffle("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
const size = shuffled.length

/** One character of each alphabet is its separator. */
const base = size - 1

const alphabetFrom = (characters: string): Alphabet => {
  const values = new Int8Array(128).fill(-1)
  for (let value = 0; value < base; value++) values[characters.charCodeAt(value + 1)] = value
  return { separator: characters[0]!, digits: characters.slice(1), values, next: shuffle(characters) }
}

const alphabets: Array<Array<Alphabet>> = Array.from({ length: size }, () => [])

/** The alphabet of the number at an index, in texts that begin with the character at `start`. */
const alphabetOf = (start: number, index: number): Alphabet => {
  const known = alphabets[start]!
  while (known.length <= index) {
    const first = [...(shuffled.slice(start) + shuffled.slice(0, start))].toReversed().join("")
    known.push(alphabetFrom(known.at(-1)?.next ?? first))
  }
  return known[index]!
}
