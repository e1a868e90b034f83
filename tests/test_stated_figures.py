"""What the documentation states in figures is what our results hold, and every figure has a source."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.support import figures as of
from tests.support.results import result
from tests.support.stated import Stated, numbers_without_a_source

README, INSTALL = "README.md", "docs/install.md"
SCOPE, EVIDENCE, BENCHMARKS, FINDINGS, UNITS = (
    f"docs/explanation/{name}.md" for name in ("scope", "evidence", "benchmarks", "findings", "units")
)
EMULATION = "docs/howto/emulation.md"
ATLAS, CERTIFICATES, COMPARE, IDENTIFY, SWEEP = (
    f"docs/howto/{name}.md" for name in ("atlas", "certificates", "compare", "identify", "sweep")
)
#: Pages of which every number is accounted for.
PAGES = (
    *(README, INSTALL, SCOPE, EVIDENCE, BENCHMARKS, FINDINGS, UNITS),
    *(ATLAS, CERTIFICATES, COMPARE, IDENTIFY, SWEEP),
)

H100, XEON, EPYC = "H100", "Xeon", "EPYC"
#: Units whose rates are stated.
SIMULATED = (
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "hopper/wgmma.m64nNk32.f32.e4m3.e4m3",
)
#: Units whose products on AVX-512 are stated.
WITH_AVX512 = (
    SIMULATED[0],
    "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
    SIMULATED[2],
    "ampere/mma.m16n8k16.f32.f16.f16.f32",
)

#: Sentences with figures, and where these stand.
STATED = [
    Stated(
        README,
        "{} measured results from seven GPUs, {} rows of other units",
        lambda: (of.shared("hardware")[1], of.shared("units")[1]),
    ),
    Stated(README, "{} results of AMD's GPUs that a paper prints", lambda: (of.shared("units3/cdna")[1],)),
    Stated(
        README,
        "and {} million rows that we put to an H100, a Xeon and an EPYC",
        lambda: (of.millions_asked(H100, XEON, EPYC),),
    ),
    Stated(README, "tcsmt finds an input by evaluation in less than {} s", of.found_by_evaluation),
    Stated(README, "and its solver takes {} s", lambda: of.seconds(of.query("ampere: 3 against 4"))),
    Stated(
        "docs/howto/accuracy.md",
        "has {} such bounds; {} of them are within {} % of an error that was found",
        lambda: (of.tight_bounds()[1], of.tight_bounds()[0], of.tight_bounds()[2]),
    ),
    Stated(README, "On {} million random rows", lambda: of.distinct_arithmetics()[:1]),
    Stated(
        README,
        "simulates {} million dot-adds per second of Hopper's FP16 unit, and {} million of Volta's",
        lambda: tuple(of.simulated(name, "tcsmt_numbers") for name in SIMULATED[:2]),
    ),
    Stated(
        README,
        "in matrix products, {} and {} million",
        lambda: tuple(of.simulated(name, "gemm") for name in SIMULATED[:2]),
    ),
    Stated(
        README,
        "the simulator is {} to {} times faster than mmasim for NVIDIA's units",
        lambda: of.ends(of.beside_mmasim("nvidia", "ratio_numbers")),
    ),
    Stated(EVIDENCE, "{} data sets have {} results from seven GPUs", lambda: of.shared("hardware")),
    Stated(EVIDENCE, "{} data sets have {} results of Radeon cards", lambda: of.shared("units")),
    Stated(EVIDENCE, "{} data sets have {} results of AMD's MI100", lambda: of.shared("units3/cdna")),
    Stated(EVIDENCE, "also has {} predictions", of.predictions),
    Stated(
        BENCHMARKS,
        "One core simulates {} million dot-adds per second of Hopper's FP16 unit, {} million of Volta's, and {} million of Hopper's FP8",
        lambda: tuple(of.simulated(name, "tcsmt_numbers") for name in SIMULATED),
    ),
    Stated(
        BENCHMARKS,
        "with any exponents, {}, {} and {} million",
        lambda: tuple(of.simulated(name) for name in SIMULATED),
    ),
    Stated(
        BENCHMARKS,
        "it is {}, {} and {} million; on integer instructions it would be {}, {} and {} million",
        lambda: tuple(
            of.simulated(name, rate) for rate in ("gemm", "gemm_by_integers") for name in SIMULATED
        ),
    ),
    Stated(BENCHMARKS, "operands alone are {} to {} % of the multiply-adds", of.of_float_peak),
    Stated(
        BENCHMARKS,
        "{} units of NVIDIA are {} to {} times as fast as mmasim with normally distributed numbers, the median is {}; {} of them at least 150 times, and {} at least 80 times at mmasim's best batch size, where the median is {}.",
        of.with_avx512,
    ),
    Stated(
        BENCHMARKS,
        "make {}, {}, {} and {} million dot-adds per second, and by integers {}, {}, {} and {}: {} to {} times as many",
        lambda: of.products_with_avx512(WITH_AVX512),
    ),
    Stated(
        BENCHMARKS,
        "rows of RDNA3 are {} to {} times as fast, of RDNA4 {} to {}, of RISC-V {} to {} (the more products, the"
        " more), of Tenstorrent {} to {}.",
        lambda: tuple(
            figure
            for name in ("rdna3/", "rdna4/", "riscv/", "wormhole/")
            for figure in of.without_products(name)
        ),
    ),
    Stated(
        BENCHMARKS,
        "exact sums and sums rounded to odd in binary64 run at {} to {} times the rate of integers in products, and at {} to "
        "{} times in rows",
        of.exact_sums_in_binary64,
    ),
    Stated(
        BENCHMARKS, "({} thousand million integer operations and {} thousand million multiply-adds", of.peaks
    ),
    Stated(
        BENCHMARKS,
        "at 4096 × 4096 × 4096, {} million dot-adds per second with one thread, at 8192 × 8192 × 8192 {} million, with {} MiB beside A, B and D; two threads are {} times as fast as one at 4096 × 4096 × 4096.",
        of.large_products,
    ),
    Stated(
        BENCHMARKS,
        "A {} × {} × {} GEMM on Hopper's FP16 unit takes {} s in a new process, in which its code is loaded first, and {} MiB",
        of.whole_gemm,
    ),
    Stated(
        BENCHMARKS,
        "The first call in a new process takes {} s, or {} s if the kernel is cached",
        of.first_call,
    ),
    Stated(BENCHMARKS, "A {} × {} × {} product on Hopper's FP16 unit", of.kernels_size),
    *(
        Stated(
            page,
            "takes {} to {} times the processor time of its products alone, and {} to {} times with the errors of"
            " {} rows",
            lambda: (*of.torch_overhead(0), *of.torch_overhead(64), "64"),
        )
        for page in (BENCHMARKS, "docs/howto/torch.md")
    ),
    Stated(
        BENCHMARKS,
        "keeps {} % of the rate of one chain with an epilogue of α, β, a bias and FP16 output, {} to {} % with K split into four parts or sliced, and {} % where it is promoted every 128",
        of.kernels_kept,
    ),
    Stated(BENCHMARKS, "on the same {} rows", of.rows_beside_mmasim),
    Stated(
        BENCHMARKS,
        "NVIDIA below FP64 ({} units) | {} to {}, median {} | {} to {}, median {} | {} |",
        of.nvidia_beside_mmasim,
    ),
    Stated(
        BENCHMARKS, "| TF32 of these | {} to {} | {} to {} | {} |", lambda: of.group_beside_mmasim("tf32")
    ),
    Stated(BENCHMARKS, "| CDNA3 | {} to {} | {} to {} | {} |", lambda: of.group_beside_mmasim("cdna3")),
    Stated(
        BENCHMARKS,
        "plain IEEE operations | {} to {} | {} to {} | {} |",
        lambda: of.group_beside_mmasim("ieee"),
    ),
    Stated(
        BENCHMARKS,
        "FP64 of Ampere and Hopper | {} to {} | {} to {} | {} |",
        lambda: of.group_beside_mmasim("f64"),
    ),
    Stated(
        BENCHMARKS,
        "{} of NVIDIA's units below FP64 are at least 200 times as fast with normally distributed numbers, {} with any exponents",
        lambda: of.reaching(200),
    ),
    Stated(
        BENCHMARKS,
        "Its first view takes {} kB, compressed; the whole page has {} units of {} different functions in {} MB",
        of.page_bytes,
    ),
    Stated(
        BENCHMARKS,
        "after {} s in a new profile and after {} s once it was loaded; writing it takes {} s of a processor's time",
        of.page_times,
    ),
    Stated(
        BENCHMARKS,
        "finds one for {} of the {} pairs of classes for which the atlas has one, each within {} s (the median is {} inputs)",
        of.page_search,
    ),
    Stated(
        BENCHMARKS,
        "{}, {} and {} thousand inputs per second of Volta's FP16 unit, Hopper's, and Blackwell's NVFP4 unit",
        of.page_rates,
    ),
    Stated(
        BENCHMARKS,
        "third carry bit: an input | {} s | {} s | {} s | {} s (cvc5), {} s (Z3)",
        lambda: (*(of.carry_bit_inputs(solver)[0] for solver in of.SOLVERS), *of.published_third_carry_bit()),
    ),
    Stated(
        BENCHMARKS,
        "fourth carry bit: an input | {} s | {} s | {} s |",
        lambda: tuple(of.carry_bit_inputs(solver)[1] for solver in of.SOLVERS),
    ),
    Stated(
        BENCHMARKS,
        "fifth carry bit: an input | {} s | {} s | {} s |",
        lambda: tuple(of.carry_bit_inputs(solver)[2] for solver in of.SOLVERS),
    ),
    Stated(
        BENCHMARKS,
        "changes nothing: a proof | {} to {} s | {} to {} s | {} to {} s |",
        lambda: tuple(figure for solver in of.SOLVERS for figure in of.carry_bit_proofs(solver)),
    ),
    Stated(
        BENCHMARKS, "Table 4 takes at most {} s with the default solver", lambda: (of.table_4("bitwuzla"),)
    ),
    Stated(BENCHMARKS, "({} s for ten pairs of roundings, where {} s is published", of.slower_than_published),
    Stated(
        BENCHMARKS,
        "takes {} s in Bitwuzla and {} s in Z3 here; cvc5 gave no answer in {} s. `…` takes {} s",
        of.their_encoding,
    ),
    Stated(
        BENCHMARKS,
        "given to Bitwuzla as a single query, takes {} s",
        lambda: of.seconds(of.as_published("ours", "bitwuzla")),
    ),
    Stated(FINDINGS, "tcsmt finds an input by evaluation in less than {} s", of.found_by_evaluation),
    Stated(
        FINDINGS,
        "asked of a solver, the query takes {} s. The one for Volta's third carry bit takes a solver {} s (published: {} s with cvc5 and {} s with Z3), and the one for Hopper's fifth {} s.",
        lambda: (
            of.carry_bit_inputs("bitwuzla")[1],
            of.carry_bit_inputs("bitwuzla")[0],
            *of.published_third_carry_bit(),
            of.carry_bit_inputs("bitwuzla")[2],
        ),
    ),
    Stated(
        FINDINGS,
        "The proof that one more bit changes nothing takes {} to {} s",
        lambda: of.carry_bit_proofs("bitwuzla"),
    ),
    Stated(
        FINDINGS, "fails on {} of {} measured V100 rows", lambda: of.contradicted("volta-products-normalised")
    ),
    Stated(FINDINGS, "proved in at most {} s, and confirmed by a second solver", of.half_of_the_lanes),
    Stated(FINDINGS, "with FP16 operands ({} to {} s)", of.truncation),
    Stated(
        FINDINGS,
        "and confirmed; e5m2: {} lemmas, {} and {} s; e4m3: {} and {} lemmas, {} and {} s",
        of.converted_inputs,
    ),
    Stated(
        FINDINGS,
        "{} rows of normal, uniform or uniformly random bits",
        lambda: of.shown("docs/howto/audit.md", r"(65,536)"),
    ),
    Stated(FINDINGS, "We asked an H100 the {} `…` and `…` instructions", lambda: (str(len(of.asked(H100))),)),
    Stated(FINDINGS, "ten instructions: {} million rows in all", lambda: (of.millions_asked(H100, XEON),)),
    Stated(
        FINDINGS,
        "finds on this hardware: {} of {} instructions are identified",
        lambda: of.identified_here()[:2],
    ),
    Stated(FINDINGS, "All {} tests give", of.fasi_tests),
    Stated(
        FINDINGS,
        "({} of {} published numbers, n up to",
        lambda: of.conclusion(
            "khattak", "the numbers behind the figure", r"(\d+) of (\d+) with the same digits"
        ),
    ),
    Stated(
        FINDINGS,
        "errors are up to {} times smaller",
        lambda: of.conclusion("khattak", "CPFloat", r"up to (\d+) times"),
    ),
    Stated(
        FINDINGS,
        "a B200 has {} times the V100's error for double words and {} times for triple words",
        lambda: of.conclusion(
            "khattak", "left open", r"has ([\d.]+) times the V100's error \(f16 2\), ([\d.]+) times"
        ),
    ),
    Stated(
        FINDINGS,
        "the real B200 has {} and {} times as much",
        lambda: of.conclusion(
            "khattak", "two orders of magnitude", r"f16 2: (\d+) times, f16 3: (\d+) times"
        ),
    ),
    Stated(FINDINGS, "{} of {} conclusions agree with the paper", of.mma_sim_conclusions),
    Stated(
        FINDINGS,
        "on {} million random rows (one million for each of the {} distinct arithmetics",
        of.distinct_arithmetics,
    ),
    Stated(
        FINDINGS,
        "proved of Blackwell's model up to K = {}, and of Hopper's up to K = {}; at K = {} Hopper's model gives {} for {}",
        lambda: (
            of.exact_up_to("gemmul8-fp8-error-free-blackwell"),
            of.exact_up_to("gemmul8-fp8-error-free-hopper"),
            *of.beyond(),
        ),
    ),
    Stated(
        FINDINGS,
        "Ootomo-Yokota is worse by up to {} and Markidis by up to {} (found)",
        lambda: (
            of.digits(of.worst("ootomo-halfhalf worse than markidis", of.FULL), 1),
            of.digits(of.worst("markidis worse than ootomo-halfhalf", of.FULL)),
        ),
    ),
    Stated(
        FINDINGS,
        "the error itself is at most {} for Ootomo-Yokota and {} for Markidis (proved)",
        lambda: (
            of.rounded_up(of.largest_bound("ootomo-halfhalf"), 1),
            of.digits(of.largest_bound("markidis")),
        ),
    ),
    Stated(
        FINDINGS,
        "Does Markidis' split keep {} bits? | Yes, exactly, for exponents −1 to 14. Over −15…14 it keeps {} bits",
        of.kept_bits,
    ),
    Stated(
        FINDINGS,
        "rounding to nearest makes the error {} times smaller",
        lambda: of.conclusion("ootomo", "(uniform, K = 4096)", r"alone gains ([\d.]+) times"),
    ),
    Stated(
        FINDINGS,
        "improves the error by at most a factor of {}",
        lambda: of.conclusion("ootomo", "in matrix products", r"at most ([\d.]+) times"),
    ),
    Stated(
        FINDINGS,
        "one product and c lose at most {} on NVIDIA's units ({} if all exponents are {}) and {} on CDNA3. A fused sum loses {} on Volta (K = 4), {} on Turing (K = 8) and {} on Hopper (K = 16). These bounds are proved, and errors within {} %",
        of.losses,
    ),
    Stated(
        FINDINGS,
        "(the largest fall that was found is {} ulp for Markidis and {} ulp for Ootomo-Yokota)",
        lambda: (of.fall("markidis"), of.fall("ootomo-halfhalf")),
    ),
    Stated(FINDINGS, "the error is up to {} times the exact sum", of.wrong_sign),
    Stated(
        FINDINGS,
        "is {} on Volta, {} on Turing to Ada, {} on Hopper and Blackwell, {} on RDNA3 and {} on RDNA4. CDNA3 has a small one ({}, standard error {})",
        of.biases,
    ),
    Stated(FINDINGS, "every mean is within {} standard errors of zero (at most {} each)", of.unbiased),
    Stated(
        FINDINGS,
        "(relative residual {}·10^-5, {} times Ampere's) and a bias of {} (standard error {}); RDNA4 has no bias there ({}, standard error {})",
        of.random_signs,
    ),
    Stated(
        FINDINGS,
        "biased away from zero, by {} (standard error {}), as ties are rounded away; with two phases, by {}, and with one, by {}:",
        of.tenstorrent,
    ),
    Stated(FINDINGS, "distinguishes a zero exponent of {}, {} or {} from", lambda: of.zero_exponents("f32")),
    Stated(FINDINGS, "where the zero exponents are {}, {} and {}", lambda: of.zero_exponents("f16")),
    Stated(FINDINGS, "all inputs for p ≤ {}, proved for p = {} to {}", of.all_inputs_and_proofs),
    Stated(
        FINDINGS,
        "the error is at most {}·2^-53 of Σ|a·b|, or {}·2^-53 if the smallest products are added first",
        lambda: (
            of.rounded_up(float(of.shown(EMULATION, r"at most (24[.]\d+)·2\^-53 \(proved\)")[0]), 2),
            of.rounded_up(float(of.shown(EMULATION, r"at most (4[.]\d+)·2\^-53 \(proved\)")[0]), 2),
        ),
    ),
    Stated(
        FINDINGS,
        "scheme I's bound is {}·2^-53 ({} was found in a run of {} s)",
        lambda: (
            f"{of.rounded_up(float(of.shown(EMULATION, r'(2[.]67[0-9e+]+)·2.-53 .proved')[0]) / 1e6, 2)}·10^6",
            *of.shown(EMULATION, r"found \((\S+) in a run of (\d+) s\)"),
        ),
    ),
    Stated(
        UNITS,
        "F is {} on Volta, {} on Ampere and Ada, {} on Hopper and Blackwell; for FP8 it is {} on Ada and in Hopper's `…`",
        of.fraction_bits,
    ),
    Stated(UNITS, "FP4 units first form exact sums of {} products", of.products_of_a_group),
    Stated(
        UNITS,
        "multiplies {} bits of each significand of a (SrcA) by {} bits of each significand of b (SrcB)",
        of.multiplier,
    ),
    Stated(
        ATLAS,
        "the full atlas has {} pairs of different models: {} are proved equal (each is an FP16 unit and the same unit with a zero exponent of −126), and {} have a witness",
        of.atlas_pairs,
    ),
    Stated(
        CERTIFICATES,
        "Of the {} statements in `…` that have such a script, within {} s of a busy machine, of which a script that was not decided had about {}",
        lambda: (
            str(len(result("benchmarks/statements")["statements"])),
            f"{result('benchmarks/statements')['limit_seconds']:g}",
            of.processor_seconds_of_undecided(),
        ),
    ),
    *(
        Stated(CERTIFICATES, f"| {name} | {{}} | {{}} | {{}} |", partial(of.whole_statements, name.lower()))
        for name in ("Bitwuzla", "Z3", "cvc5")
    ),
    Stated(CERTIFICATES, "The {} that Z3 and cvc5 prove are the same", lambda: of.whole_statements("z3")[:1]),
    Stated(
        CERTIFICATES,
        "{} minutes for the statements and {} for the units, on one core of a machine that had three other jobs on its two; {} and {} seconds",
        of.certified_from_nothing,
    ),
    Stated(CERTIFICATES, "It accepts all {} refutations", lambda: (of.certificates_kept(),)),
    Stated(CERTIFICATES, "ACL2 has certified all {} statements in `…`", lambda: (of.certified_by_acl2(),)),
    Stated(
        CERTIFICATES,
        "lists the proofs in `…`: all {} have one",
        lambda: (str(result("accuracy/certified")["certified"]),),
    ),
    Stated(COMPARE, "asks a list of {} such questions", lambda: (str(len(result("comparisons/theorems"))),)),
    Stated(
        IDENTIFY, "took 7 or 8 questions, `…` took {} and", lambda: (of.asked_questions("x86_vdpbf16ps"),)
    ),
    Stated(IDENTIFY, "(K = 32, two chains) {}; an oracle", lambda: (of.asked_questions("x86_tdpbf16ps"),)),
    Stated(
        IDENTIFY,
        "a single chain of 32 multiply-adds, took {}. QEMU's `…` took {}, and an oracle of `…`, an exact sum before c is added, {}.",
        lambda: tuple(
            of.asked_questions(name)
            for name in ("x86_tdpbf16ps_guide_oracle", "arm_bfdot.ebf0_qemu72", "arm_bfdot.ebf1_oracle")
        ),
    ),
    Stated(
        IDENTIFY,
        "each of {} distinct fused arithmetics of the catalogue as a black box. Of these, {} are identified, with {} to {} questions (mean {})",
        lambda: (
            *(str(of.identified()[verdict]) for verdict in ("all", "identified")),
            *of.questions(),
        ),
    ),
    Stated(
        IDENTIFY,
        "Of NVIDIA's {}, {} are;",
        lambda: tuple(str(of.identified(*of.NVIDIA)[verdict]) for verdict in ("all", "identified")),
    ),
    Stated(
        IDENTIFY,
        "Of RVBNA's {}, {} are;",
        lambda: tuple(str(of.identified("riscv")[verdict]) for verdict in ("all", "identified")),
    ),
    Stated(
        IDENTIFY,
        "Of RDNA3's and RDNA4's {}, none is: {} are refuted",
        lambda: tuple(str(of.identified("rdna3", "rdna4")[verdict]) for verdict in ("all", "refuted")),
    ),
    Stated(IDENTIFY, "The lower bound is {} to {} answers", of.floors),
    Stated(
        IDENTIFY,
        "for {} instructions. {} were identified",
        lambda: tuple(reversed(of.identified_here()[:2])),
    ),
    Stated(
        IDENTIFY,
        "units of at most 32 bits with {} to {} questions in {} to {} s",
        lambda: of.asked_here(floating=True),
    ),
    Stated(
        IDENTIFY,
        "integers and FP64 with {} to {} questions in at most {} s",
        lambda: of.asked_here(floating=False),
    ),
    Stated(IDENTIFY, "AMX's `…` took {} questions", lambda: (of.asked_questions("x86_tdpbf16ps"),)),
    Stated(
        IDENTIFY,
        "{} rows of a V100 leave {} hypotheses; of an A100, {}; of an H200, {} (FP16) and {} (`…`, e4m3)",
        lambda: of.recorded("v100_f16_f32", "a100_f16_f32", "h200_f16_f32", "h200_e4m3_f32"),
    ),
    Stated(IDENTIFY, "Volta's unit from {} of the {} units that differ", of.unseen_neighbours),
    Stated(
        SWEEP,
        "is up to {} on NVIDIA's units, {} on Tenstorrent's with all four phases, and up to {} on the others",
        of.standard_errors,
    ),
    Stated(
        SWEEP,
        "Its two products and c lose at most {} ({} found)",
        lambda: of.bound_and_found("rdna3/v_dot2_f32_f16", 2),
    ),
    Stated(
        SWEEP,
        "all four phases lose at most {}·2^-24, {} %, of |c| + Σ|a·b|, and phase 0 alone {} %",
        of.phases_lose,
    ),
    Stated(SWEEP, "are too large, by {}·2^-24 on average", lambda: of.tenstorrent()[:1]),
    Stated(SWEEP, "a result of {} times |c| + Σ|a·b|: Its bound is {} times", of.wrong_unit_loses),
    Stated(
        README,
        "on all {} random rows of a published run, and yet are different functions",
        lambda: of.published_run()[:1],
    ),
    Stated(
        FINDINGS,
        "on all {} rows no word differs; one row refutes groups of {} and {}, and none other sizes",
        of.published_run,
    ),
    Stated(SWEEP, "contains {} such statements", lambda: (str(len(result("accuracy/reduced")["entries"])),)),
]

#: Sentences whose numbers define something, or are what others published.
QUOTED = (
    [
        Stated(README, text)
        for text in (
            "bits below the 13 fraction bits are cut",
            "Python 3.11 or newer",
            "gave no answer in 6 hours",
            "The exit code is 0 for a proof, 1 for a witness, and 3 if neither",
            "needs 5 carry bits (proved); the published formula says 6",  # claims.json: hopper-fp8-six-carry-bits
        )
    ]
    + [
        Stated(INSTALL, text)
        for text in (
            "Python 3.11 or newer",
            "about 90 MB",
            "multiply-adds of up to 13 bits",
            "Linux (x86-64)",
            # what was run by hand, or by .ci/processors.py
            "| x86-64 | all tests",
            "on an Intel Xeon with AVX-512; some of them on a Nehalem that QEMU 7.2 emulates",
            "emulated by QEMU 7.2, with Debian's Python 3.11:",
            "all tests with 3.11 and 3.13; installed",
            "with 3.12 and 3.13; 3.14 was not run",
            "products with 1, 2 and 64 threads on 1 and 2 cores",
        )
    ]
    + [
        Stated(BENCHMARKS, text)
        for text in (
            "Do *n* carry bits and *n* + 1 differ?",
            "no answer in 6 hours",
            "needed up to 5 minutes",
            "of 15 units as boxes",
        )
    ]
    + [
        Stated(FINDINGS, text)
        for text in (
            # papers and packages, as `tcsmt claims` and `tcsmt reproduce` compare them
            "had no answer after 6 hours",
            "sums NVFP4 products in groups of 4, MMA-Sim in groups of 16",
            "ceil(log2(N_FMA + 1))",
            "gives 6. The reason",
            "Hawkeye has −139, mmaemu −132 and mmasim −133",
            "FPy's table has −20, −21 and −22 for FP16 output where mmasim has −19, −20 and −21, and −133 for `…` and `…` where mmasim has −21",
            "or from −126",
            "not −126; with FP16 output",
            "not −22 (FPy's table for `…`) and not −133",
            "exponent −133,",
            "with −21,",
            "cannot reach 1; with *b1* = 1.998046875·2^+7 (or with 2^6 in *a1*)",
            "according to `…` 2.1.1",
            "`…` 2.1.1, on",
            "the exponent −1. On CDNA1",
            "2^128 − 2^103",
            "With exponent 7 in b1",
            "exponent 6 in a1",
            "the V100 100 times better",
            "F is 23 instead of 25",
            # derivations and inputs, which the sentence lets its reader check
            "with 32 products and c, needs 5 (proved)",
            "at most 1.875, so that the sum stays below 32 · 1.875² + 2, which is below 128",
            "2N products",
            "1 · 1 − 2^24",
            "by up to 6, but only",
            "2^-7 · 1.5·2^-9 − 2^-8 · 2^15 (lanes 2 and 3",
            "is −127.999977 on an H100, and −127.999985 without",
            "2^-13 · 2^-12 + 2^-22 · 2^-21",
            "from −141 to −125",
            "a = b = (1, 1)",
            "new chain after every 128 products",
            "integers up to 16 in e4m3",
            "(1+2^-11)² is 2 ulp off",
            "one factor has 11 bits and the other 22",
            "exponents −2…14 (proved",
            # what was asked
            "multiples of 64 (`…`), six at 8192 and twelve at 16384",
            "at K = 64 and eight at 512",
            "for K = 1, 2, 4 and the unit's own K",
            "yes for K = 1 and 2,",
            "for K = 1, 2 and 4 with any c",
            "products of 4096 positive terms",
            # a model that is no longer there
            # tests/simulate/test_library_gemms.py computes them again
            "(18 of 18 products",
            "75 to 129 of them differed from the model that we had",
        )
    ]
    + [
        Stated(UNITS, text)
        for text in (
            # numbers of list items, and definitions
            "1. Multiply.",
            "in [1, 2) lies in [1, 4)",
            "2. Maximum.",
            "3. Align.",
            "4. Add.",
            "5. Normalise",
            "of phases 0 to 3, together multiply 10 bits of a by 11 bits of b",
            "is phases 0 to 3",
            "is phase 0 alone",
            "Lanes 0 to 7 and 8 to 15",
            "ends 10 places below",
            "at 23 fraction bits",
            "to 10 fraction bits",
            "exactly −1 unit",
            "becomes −2^27 units: −1·1 + `…` gives −16 instead",
            "from +0",
            "are +0",
            "low 13 bits",
        )
    ]
    + [
        Stated(page, text)
        for page, texts in {
            ATLAS: (
                "It took 23 minutes on one core",
                "then exponents −8 to 8",
                "over 16 products",
            ),
            CERTIFICATES: (
                "The exit code is 0 if every statement is proved, 1 if the proof of some statement fails, and 2 if a part of the certificate cannot be read as one",
                "Exit code 1: no statement says so",
                "a theorem of Lean 4 for each statement",
                "a tool chain of Lean 4",
                "1. It reads the models",
                "2. It goes through",
                "3. It turns each formula",
                "in 20 seconds of one core",
                "one of 15.8 million hints",
            ),
            COMPARE: (
                "| 0 | equal",
                "| 1 | different",
                "| 3 | unknown",
                "a = b = (1, 2^-12)",
                "c is +0",
            ),
            IDENTIFY: (
                "This run took 2.2 s",
                "The exit code is 0 if the box is identified, 1 if no hypothesis explains the answers or the answers contradict each other, 2 for a usage error, and 3 if",
                "formats of at most 32 bits",
                "chains from +0",
                "took 7 or 8 questions",
                "shapes (1, K), (1, K) and (1,)",
                "the 25 questions above",
            ),
            SWEEP: (
                "exponents from −7 to 0",
                "7 s of CPU time",
                "over 4096 elements",
                "Arm's FDOT loses at most 1, RISC-V's RVBNA at most 5.000001 and RDNA4's DOT4 at most 6",
                "10 places below",
                "and phase 0 alone",
                "exactly −1 unit of its grid becomes −2^27 units",
                "2*p* + 2 bits",
                "With *p* = 11",
            ),
        }.items()
        for text in texts
    ]
    + [Stated(README, "2.1.1 differs from our models")]
)


@pytest.mark.parametrize("entry", STATED, ids=lambda entry: f"{entry.page}: {entry.text[:40]}")
@pytest.mark.slow_cases(
    "README.md: {} measured results from seven GPUs, {} ",
    "docs/explanation/evidence.md: {} data sets have {} results of Radeon c",
)
def test_figures_are_those_of_the_results(entry: Stated) -> None:
    assert entry.figures is not None
    places = [values for _, values in entry.spans()]
    assert places, f"{entry.page} no longer says: {entry.text}"
    assert set(places) == {entry.figures()}


@pytest.mark.parametrize("entry", QUOTED, ids=lambda entry: f"{entry.page}: {entry.text[:40]}")
def test_quotations_stand_in_their_pages(entry: Stated) -> None:
    assert list(entry.spans()), f"{entry.page} no longer says: {entry.text}"


@pytest.mark.parametrize("page", PAGES)
def test_every_number_has_a_source(page: str) -> None:
    assert numbers_without_a_source(page, [*STATED, *QUOTED]) == []


def test_a_number_without_a_source_is_named(tmp_path: Path) -> None:
    """Numbers in code and names count for nothing; a figure does, and so does a sentence that has another one."""
    page = tmp_path / "page.md"
    page.write_text("FP16 with `k = 7` and K = 4096 is 3 times\nas fast, and 12 of 13 agree.\n")
    sentence = Stated(str(page), "{} of {} agree", lambda: ("12", "13"))
    (left,) = numbers_without_a_source(str(page), [sentence])
    assert "is 3 times as fast" in left
    assert [figures for _, figures in sentence.spans()] == [("12", "13")]
    page.write_text("12 of 14 agree\n")
    with pytest.raises(AssertionError):
        test_figures_are_those_of_the_results(sentence)
