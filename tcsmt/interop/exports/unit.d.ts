/** A value: numerator · 2^exponent, the numerator odd or 0; or what is not finite. */
export type Value = { numerator: bigint; exponent: number } | "nan" | "inf" | "-inf";

/** A number format; `bits` is there in formats of integers, `exponent_bits` in floating-point formats. */
export interface Format {
  name: string;
  width: number;
  signed: boolean;
  fraction_bits: number;
  bits?: number;
  exponent_bits?: number;
  bias?: number;
  specials?: "ieee" | "nan-only" | "negative-zero-nan" | "none";
  ignored_low_bits?: number;
  ignored_high_bits?: number;
}

/** What a module says of itself. */
export interface About {
  version: number;
  unit?: string;
  source?: string;
  date?: string;
  evidence?: string;
  title: string;
  k: number;
  parameters: Record<string, unknown>;
  inputs: { name: "a" | "b" | "c" | "scale_a" | "scale_b"; count: number; format: Format }[];
  result: { word: number; format: Format };
  /** Of each word its address divided by 8, and its width in bits. */
  words: [number, number][];
  values: Record<string, unknown>[];
  stages: Record<string, unknown>[];
}

/** An intermediate result on one input. */
export interface Stage {
  name: string;
  label: string;
  block: number | string | null;
  kind: string;
  lane: number | [number, number] | null;
  type: "number" | "exponent" | "fixed" | "sign_magnitude" | "word";
  value: Value;
  /** Of a number: whether its sign is set. */
  minus?: boolean;
  /** Of a word of a format: its bits. */
  word?: bigint;
  format?: Format;
}

/** The words of a row, by operand: bits of numbers, as unsigned integers. */
export interface Operands {
  a: ArrayLike<number | bigint>;
  b: ArrayLike<number | bigint>;
  c: number | bigint;
  scale_a?: ArrayLike<number | bigint>;
  scale_b?: ArrayLike<number | bigint>;
}

export declare class Unit {
  /** Of a module's bytes. */
  static load(bytes: BufferSource): Promise<Unit>;
  constructor(module: WebAssembly.Module);
  readonly about: About;
  /** The names of the inputs, in order: a0, ..., b0, ..., c, sa0, ..., sb0, ... */
  readonly names: string[];
  readonly formats: Format[];
  row(operands: Operands): (number | bigint)[];
  /** The word of d. Throws a RangeError for words that are too many, too few or too large. */
  result(inputs: Operands | (number | bigint)[]): bigint;
  /** Every stage, in order. */
  stages(inputs: Operands | (number | bigint)[]): Stage[];
}

export declare function exact(numerator: bigint, exponent: number): Exclude<Value, string>;
export declare function valueOf(format: Format, word: bigint): Value;
export declare function toNumber(value: Value): number;

/** The unit of the module beside this file. */
export declare function load(): Promise<Unit>;
